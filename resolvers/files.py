"""What can be done with files."""

from resolvers.access import Row
from resolvers.context import Context
from schema.files import File
from storage.enums import FileService
from storage.objects.names import readable_size

PUBLIC = frozenset({FileService.PRODUCT_MEDIA, FileService.WORKSPACE_AVATAR})


def file_of(ctx: Context, row: Row) -> File:
    """The file of a row; images that anyone may see have a public address."""
    public_url = f"{ctx.services.auth_url}/media/{row['path']}" if row["service"] in PUBLIC else None
    return File.model_validate({**row, "size_readable": readable_size(row["size"]), "public_url": public_url})
