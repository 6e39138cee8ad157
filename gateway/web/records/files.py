"""The pages of uploaded files."""

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from gateway.web.kit.visits import Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.records.kit.cells import Cell, Column, Shown
from gateway.web.records.kit.fields import Words
from gateway.web.records.kit.records import Records, Step
from resolvers.files.files import delete_file, get_file, get_file_download, list_files
from schema.errors import Invalid, NotFound
from schema.files.files import File

SERVICES = (
    ("downloadable", "Files to download"),
    ("product_media", "Images of shares"),
    ("workspace_avatar", "Pictures of workspaces"),
)


def _service(file: File, _: Shown) -> Cell:
    return Cell("text", dict(SERVICES)[file.service.value])


def _state(file: File, _: Shown) -> Cell:
    return Cell("badge", "Uploaded", note="active") if file.is_uploaded else Cell("badge", "Not finished")


FILES = Records(
    area="Files",
    path="files",
    one="file",
    many="files",
    about="The content of shares, their images, and pictures of workspaces.",
    empty="Upload a file, then choose it in a share.",
    model=File,
    find=list_files,
    get=get_file,
    called=lambda file: str(file.name),
    columns=(
        Column("name"),
        Column("service", "Purpose", _service),
        Column("size"),
        Column("is_uploaded", "State", _state),
        Column("created_at"),
    ),
    facts={
        "service": Column("service", "Purpose", _service),
        "is_uploaded": Column("is_uploaded", "State", _state),
        "public_url": Column("public_url", "Public address"),
        "mime_type": Column("mime_type", "Type"),
        "checksum_sha256_hex": Column("checksum_sha256_hex", "SHA-256"),
        "last_modified_at": Column("last_modified_at", "Uploaded"),
    },
    hidden=frozenset(
        {"upload", "size_readable", "path", "storage_version", "checksum_etag", "checksum_sha256_base64"}
    ),
    main_filters=("name", "service"),
    filter_words={
        "name": Words(hint=""),
        "service": Words("Purpose", hint="", options=SERVICES),
    },
    without_filters=frozenset({"ids"}),
    links=(("download", "Download"),),
    links_apply=lambda file: bool(file.is_uploaded),
    uploads=SERVICES[:2],
    steps=(
        Step(
            "delete",
            "Delete",
            "The file and its content are deleted, and removed from its shares. This cannot be undone.",
            "Delete file",
            "File deleted.",
            delete_file,
            leads_to_list=True,
        ),
    ),
)


async def download(visit: Visit) -> Response:
    """Redirect to a URL that is valid for an hour."""
    workspace = await workspace_of(visit)
    id = visit.request.path_params["id"]
    try:
        file = await visit.call(get_file, id=id)
        if file.workspace_id != workspace.id:
            raise NotFound("There is no such file.")
        link = await visit.call(get_file_download, id=id)
    except Invalid:
        raise NotFound("There is no such uploaded file.") from None
    return RedirectResponse(link.url, 303)


def download_routes() -> list[Route]:
    return [Route("/{slug}/files/{id}/download", page(download))]
