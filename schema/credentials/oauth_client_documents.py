"""The GraphQL documents of OAuth clients: those that a client registered, and others that it sends."""

from typing import Annotated

from graphql import GraphQLSyntaxError, parse
from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from schema.kit.base import Input, Output, Resource, graphql_input, graphql_type
from schema.kit.fields import CreatedAt
from schema.kit.pages import ListQuery
from schema.kit.sorting import Sorting
from schema.values.names import NAMED
from schema.values.scalars import Id, Int, Moment

MOST_TOKENS = 5_000
LONGEST_DOCUMENT = 64 * 1024
MOST_AT_ONCE = 100


def _check_document(text: str) -> str:
    if len(text.encode()) > LONGEST_DOCUMENT:
        limit = {"limit": LONGEST_DOCUMENT}
        raise PydanticCustomError("document_size", "A document should have at most {limit} bytes", limit)
    try:
        parse(text, max_tokens=MOST_TOKENS)
    except GraphQLSyntaxError as error:
        raise PydanticCustomError("document", "{message}", {"message": error.message}) from None
    return text


DocumentName = Annotated[
    str | None,
    Field(min_length=1, max_length=256, description="A name for the owners of the client."),
]
DocumentText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_DOCUMENT,
        description="The document exactly as the client sends it: each letter counts.",
    ),
    AfterValidator(_check_document),
]


@graphql_type
class OAuthClientDocument(Resource):
    """A GraphQL document that an OAuth client registered, or sent although it is not registered.

    Of a document that is not registered only the hash and the names of the schema's fields are kept.
    """

    created_at: CreatedAt
    oauth_client_id: Annotated[Id, Field(description="The OAuth client.")]
    hash: Annotated[str, Field(description="The document's SHA-256, as 64 hexadecimal digits in lower case.")]
    is_registered: Annotated[bool, Field(description="Whether the document is registered.")]
    name: DocumentName
    text: Annotated[str | None, Field(description="The document; null if it is not registered.")]
    root_fields: Annotated[
        list[str],
        Field(description="The names of the root fields that it selects; none if it never ran."),
    ]
    requests: Annotated[
        Int,
        Field(
            description="How often it was sent while the client's `document_mode` was not `off`, counted "
            "every 10 seconds."
        ),
    ]
    last_used_at: Annotated[Moment | None, Field(description="When it was last sent, of those times.")]


@graphql_input
class OAuthClientDocumentCreate(Input):
    """A document to register."""

    text: DocumentText
    name: Annotated[DocumentName, NAMED] = None


@graphql_input
class OAuthClientDocumentsCreate(Input):
    """Documents to register for an OAuth client. One that is registered already gets the new name."""

    documents: Annotated[
        list[OAuthClientDocumentCreate],
        Field(min_length=1, max_length=MOST_AT_ONCE, description="The documents, each once."),
    ]


@graphql_type
class OAuthClientDocumentsRegistered(Output):
    """The documents that were sent, registered."""

    data: Annotated[list[OAuthClientDocument], Field(description="The documents, in the order sent.")]


class OAuthClientDocumentSorting(Sorting, keys=("created_at", "requests", "last_used_at")): ...


class OAuthClientDocumentQuery(ListQuery):
    """The arguments of the list of OAuth clients' documents."""

    oauth_client_id: Annotated[
        list[Id] | None, Field(max_length=100, description="Only documents of these OAuth clients.")
    ] = None
    hash: Annotated[
        list[Annotated[str, Field(max_length=64)]] | None,
        Field(max_length=100, description="Only documents with these hashes."),
    ] = None
    is_registered: Annotated[
        bool | None, Field(description="Only documents that are registered, or only others.")
    ] = None
    sorting: Annotated[
        list[OAuthClientDocumentSorting] | None,
        Field(max_length=4, description="The sort keys in order; the default is `created_at`."),
    ] = None
