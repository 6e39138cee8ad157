"""The GraphQL roots: one line for each thing that can be asked or done."""

import strawberry
from strawberry.extensions import ParserCache
from strawberry.schema.config import StrawberryConfig

from resolvers import shares, viewer, workspaces
from resolvers.expose import expose
from resolvers.gatekeeper import Gatekeeper
from schema.scalars import SCALARS


@strawberry.type
class Query:
    share = expose(shares.get_share)
    shares = expose(shares.list_shares)
    viewer = expose(viewer.get_viewer)
    workspace = expose(workspaces.get_workspace)


@strawberry.type
class Mutation:
    create_share = expose(shares.create_share)
    update_share = expose(shares.update_share)
    delete_share = expose(shares.delete_share)


def make_schema() -> strawberry.Schema:
    """The executable schema."""
    return strawberry.Schema(
        Query,
        Mutation,
        config=StrawberryConfig(scalar_map=SCALARS),
        extensions=[Gatekeeper, lambda: ParserCache(maxsize=500)],
    )
