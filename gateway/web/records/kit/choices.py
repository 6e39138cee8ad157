"""What people choose from in forms: other records of the workspace, and uploaded files."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from urllib.parse import urlsplit

from gateway.web.kit.html import content_security_policy
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import Cell
from gateway.web.records.kit.fields import Field, Options
from gateway.web.records.kit.records import Choices
from resolvers.events.events import list_event_names
from resolvers.shares.custom_fields import list_custom_fields
from resolvers.shares.shares import list_shares
from schema.kit.pages import MOST_PER_PAGE
from schema.workspaces.workspaces import Workspace

_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?")


async def chosen_fields(
    visit: Visit,
    workspace: Workspace,
    fields: Sequence[Field],
    choices: Mapping[str, Choices],
    place: str = "",
) -> tuple[Field, ...]:
    """The fields with the options of those that have `choices`."""
    made = []
    for each in fields:
        name = place + each.name
        options = await choices[name](visit, workspace) if name in choices else None
        parts = await chosen_fields(visit, workspace, each.parts, choices, f"{name}.")
        filled = replace(each, parts=parts)
        made.append(filled if options is None else filled.with_options(options))
    return tuple(made)


async def shares(visit: Visit, workspace: Workspace) -> Options | None:
    """The workspace's shares by name; None if there are too many to choose from."""
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE, "sorting": ["name"]}
    listing = await visit.call(list_shares, filters=query)
    if listing.meta.total > MOST_PER_PAGE:
        return None
    return [(str(share.id), share.name) for share in listing.data]


async def custom_fields(visit: Visit, workspace: Workspace) -> Options:
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE}
    listing = await visit.call(list_custom_fields, filters=query)
    return [(str(each.id), each.name) for each in listing.data]


async def event_names(visit: Visit, workspace: Workspace) -> Options:
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE, "sorting": ["name"]}
    listing = await visit.call(list_event_names, filters=query)
    return [(name, name) for name in dict.fromkeys(each.name for each in listing.data)]


def uploaded_policy(rows: Iterable[Iterable[Cell]], *more: str) -> str | None:
    """The policy of a page that shows the images in these cells; `more` are origins to upload to."""
    cells = (cell for row in rows for cell in _each(row) if cell.kind in ("image", "pictured"))
    addresses = [cell.value for cell in cells if cell.value is not None]
    origins = sorted({origin for address in addresses if (origin := _origin(address))})
    return content_security_policy(
        img_src=" ".join(["'self'", "data:", *origins]), connect_src=" ".join(["'self'", *more])
    )


def _each(cells: Iterable[Cell]) -> Iterable[Cell]:
    for cell in cells:
        yield cell
        if cell.kind == "list":
            yield from _each(cell.value)


def _origin(address: str) -> str | None:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}" if _HOST.fullmatch(parts.netloc) else None
