"""Uploaded files in forms: those that are chosen, those that can be, and where new ones are sent."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from gateway.web.kit.forms import Form
from gateway.web.kit.origins import origin_of
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import Cell
from gateway.web.records.kit.fields import Field
from resolvers.files.files import list_files
from resolvers.files.uploads import store_failures
from schema.files.files import File
from schema.kit.pages import MOST_PER_PAGE
from schema.values.prose import write_size
from schema.workspaces.workspaces import Workspace

MOST_OFFERED = 24


@dataclass(frozen=True)
class Choice:
    """A file that a form offers, and whether it is chosen."""

    id: str
    name: str
    cell: Cell
    is_chosen: bool


async def files_for(
    visit: Visit, workspace: Workspace, fields: Sequence[Field], form: Form
) -> dict[str, list[Choice]]:
    """The files of each field that lists files: the chosen ones in their order, then the latest others."""
    found: dict[str, list[Choice]] = {}
    for each in fields:
        if each.kind == "files":
            found[each.name] = await _choices(visit, workspace, each, form.all(each.name))
    return found


async def _choices(visit: Visit, workspace: Workspace, each: Field, ids: Sequence[str]) -> list[Choice]:
    own = {"workspace_id": [str(workspace.id)], "service": each.uploads}
    known = [id for id in ids if _is_id(id)][:MOST_PER_PAGE]
    files: dict[str, File] = {}
    if known:
        chosen = await visit.call(list_files, filters=own | {"ids": known, "limit": MOST_PER_PAGE})
        files |= {str(file.id): file for file in chosen.data}
    latest = await visit.call(list_files, filters=own | {"limit": MOST_OFFERED})
    others = [file for file in latest.data if file.is_uploaded and str(file.id) not in files]
    return [
        *(_choice(files[id], is_chosen=True) for id in dict.fromkeys(known) if id in files),
        *(_choice(file, is_chosen=False) for file in others),
    ]


def _choice(file: File, *, is_chosen: bool) -> Choice:
    cell = Cell("image", file.public_url) if file.public_url else Cell("figure", write_size(file.size))
    return Choice(str(file.id), file.name, cell, is_chosen)


def _is_id(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


async def upload_origin(visit: Visit) -> str:
    """The origin that parts of files are sent to. Raises `Unavailable`."""
    with store_failures():
        signed = await visit.ctx.services.objects.sign_download(
            "origin", "origin", "text/plain", timedelta(minutes=1), attachment=True
        )
    return origin_of(signed.url)
