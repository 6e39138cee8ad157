"""The page of a list of records: filters, sorting and the place in the list are in its address."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from starlette.responses import Response

from gateway.web.kit.calls import call_of
from gateway.web.kit.visits import Visit
from gateway.web.records.kit.cells import Cell, Column, Shown
from gateway.web.records.kit.choices import uploaded_policy
from gateway.web.records.kit.fields import Field
from gateway.web.records.kit.figures import figures_of
from gateway.web.records.kit.filters import address_of, read_asked
from gateway.web.records.kit.names import names_in
from gateway.web.records.kit.records import Records
from gateway.web.records.kit.uploads import upload_origin
from gateway.web.records.kit.values import placed, rows_in
from schema.errors import Invalid
from schema.workspaces.workspaces import Workspace

# The numbers of rows that a page can have, the usual one first.
SIZES = (25, 50, 100)
# What an address says of the place in the list.
_PLACES = {"page": None, "limit": None}


@dataclass(frozen=True)
class Heading:
    """A heading of a column; `href` sorts by it, and `sorted` is `ascending`, `descending` or empty."""

    title: str
    href: str = ""
    sorted: str = ""


@dataclass(frozen=True)
class Row:
    """A record of a table; `href` is its page."""

    href: str
    cells: Sequence[Cell]


@dataclass(frozen=True)
class Table:
    headings: Sequence[Heading]
    rows: Sequence[Row]

    @cached_property
    def figures(self) -> frozenset[int]:
        """The places of the columns with figures, from 0."""
        cells = (enumerate(row.cells) for row in self.rows)
        return frozenset(place for row in cells for place, cell in row if cell.kind in ("figure", "amounts"))


async def table_of(
    visit: Visit, records: Records, found: Sequence[Any], shown: Shown, columns: Sequence[Column]
) -> list[Row]:
    """The rows of these records."""
    shown.names.update(await names_in(visit, found))
    return [
        Row(f"{shown.base}/{records.path}/{record.id}", [column.cell(record, shown) for column in columns])
        for record in found
    ]


async def show_list(visit: Visit, records: Records) -> Response:
    """The list with the filters of the address; refused filters are shown with their problems."""
    asked = await read_asked(visit, records)
    workspace, form, listing = asked.workspace, asked.form, None
    try:
        place = {"limit": per_page(visit), "page": visit.page_number}
        listing = await visit.call(records.find, filters=asked.filters | place)
    except Invalid as invalid:
        form = form.refused(placed(invalid, asked.fields, asked.reading))
    rows = []
    shown = Shown(f"/{workspace.slug}")
    if listing is not None:
        rows = await rows_of(visit, workspace, records, listing.data, shown)
    origins = [await upload_origin(visit)] if records.uploads else []
    return visit.render(
        "records.html",
        status_code=200 if listing is not None else 422,
        policy=uploaded_policy((row.cells for row in rows), *origins),
        workspace=workspace,
        records=records,
        base=shown.base,
        form=form,
        fields_shown=_split(asked.fields, records),
        rows_in=rows_in,
        more_is_open=listing is None,
        chips=asked.chips(partial(address_of, visit)) if listing is not None else [],
        listing=listing,
        table=Table(_headings(visit, records, asked.sorting), rows),
        sizes=SIZES,
        addressed=lambda **changes: address_of(visit, changes),
        export=address_of(visit, _PLACES, f"{shown.base}/{records.path}/csv"),
        call=call_of(visit, records.find, filters=asked.filters) if listing is not None else None,
    )


def per_page(visit: Visit) -> int:
    """How many rows the address asks for, one of `SIZES`."""
    return next((size for size in SIZES if str(size) == visit.request.query_params.get("limit")), SIZES[0])


async def rows_of(
    visit: Visit, workspace: Workspace, records: Records, found: Sequence[Any], shown: Shown
) -> list[Row]:
    """The rows of the list, with figures if its records have any."""
    if records.measured_by and found:
        shown.figures = await figures_of(visit, workspace, records.measured_by, found)
    return await table_of(visit, records, found, shown, records.columns)


def _split(fields: Sequence[Field], records: Records) -> tuple[list[Field], list[Field]]:
    """The main filters, and the others."""
    main = [each for each in fields if each.name in records.main_filters]
    return main, [each for each in fields if each.name not in records.main_filters]


def _headings(visit: Visit, records: Records, sorting: Sequence[str]) -> list[Heading]:
    keys, current = records.sort_keys(), sorting[0] if sorting else ""
    headings = []
    for column in records.columns:
        if column.name not in keys:
            headings.append(Heading(column.title))
            continue
        is_by = current.removeprefix("-") == column.name
        direction = "" if not is_by else "descending" if current.startswith("-") else "ascending"
        key = f"-{column.name}" if direction == "ascending" else column.name
        headings.append(Heading(column.title, address_of(visit, {"sorting": key, "page": None}), direction))
    return headings
