"""The schema of graphql-core inside Strawberry's, which Strawberry offers under a private name only."""

import strawberry
from graphql import GraphQLSchema


def core_schema(schema: strawberry.Schema) -> GraphQLSchema:
    return schema._schema
