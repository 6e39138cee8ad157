"""The files of a customer's sessions, and links that download them."""

from typing import Annotated

from pydantic import Field

from schema.kit.base import Input, Output, graphql_input, graphql_type
from schema.values.scalars import Id
from schema.values.units import Size


@graphql_type
class PortalFile(Output):
    """A file that a session gives access to."""

    id: Id
    name: str
    mime_type: str
    size: Annotated[Size, Field(description="The size in bytes.")]
    size_readable: Annotated[str, Field(description="The size as text, like `4.2 MB`.")]


@graphql_input
class PortalDownloadCreate(Input):
    """The file to download."""

    file_id: Annotated[Id, Field(description="The id of one of the session's `files`.")]
