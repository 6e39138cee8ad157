"""The page of a list of records: filters, sorting and the place in the list are in its address."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from starlette.responses import Response

from gateway.web.kit.calls import call_of
from gateway.web.kit.forms import Form
from gateway.web.kit.lookups import LONGEST, LOOKUPS
from gateway.web.kit.moments import DEFAULT_ZONE
from gateway.web.kit.visits import Visit
from gateway.web.kit.workspaces import workspace_of
from gateway.web.records.kit.cells import Cell, Column, Shown
from gateway.web.records.kit.choices import chosen_fields, uploaded_policy
from gateway.web.records.kit.fields import Field
from gateway.web.records.kit.figures import figures_of
from gateway.web.records.kit.names import names_in
from gateway.web.records.kit.records import Records
from gateway.web.records.kit.uploads import upload_origin
from gateway.web.records.kit.values import Reading, Texts, placed, read, rows_in
from schema.errors import Invalid
from schema.workspaces.workspaces import Workspace

PER_PAGE = 25
# Of an address, these are not filters.
_OWN = ("sorting", "page")
# The value of a filter by what has none.
NONE = "none"
_DATES = {"start_date", "end_date"}


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
        return frozenset(place for row in cells for place, cell in row if cell.kind == "figure")


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
    workspace = await workspace_of(visit)
    chosen = await chosen_fields(visit, workspace, records.filters(), records.filter_choices)
    fields = [_suggesting(each) for each in chosen]
    sent = {name: visit.request.query_params.getlist(name) for name in visit.request.query_params}
    if any(field.name == "timezone" for field in fields):
        # Dates are those of the page's times.
        sent.setdefault("timezone", [workspace.timezone or DEFAULT_ZONE])
    reading = read(Form(sent), fields)
    form = Form(sent | await _look_up(visit, workspace, fields, reading))
    sorting = sent.get("sorting", [])[-1:]
    filters = {
        "workspace_id": [str(workspace.id)],
        **reading.data,
        **({"sorting": sorting} if sorting else {}),
    }
    if not _DATES & filters.keys():
        filters.pop("timezone", None)
    try:
        if reading.problems:
            raise Invalid(reading.problems)
        asked = filters | {"limit": PER_PAGE, "page": visit.page_number}
        listing = await visit.call(records.find, filters=asked)
    except Invalid as invalid:
        listing = None
        form = form.refused(placed(invalid, fields, reading))
    rows = []
    shown = Shown(f"/{workspace.slug}")
    if listing is not None:
        rows = await _rows(visit, workspace, records, listing.data, shown)
    origins = [await upload_origin(visit)] if records.uploads else []
    return visit.render(
        "records.html",
        status_code=200 if listing is not None else 422,
        policy=uploaded_policy((row.cells for row in rows), *origins),
        workspace=workspace,
        records=records,
        base=shown.base,
        form=form,
        fields_shown=_split(fields, records),
        rows_in=rows_in,
        more_is_open=_more_is_open(reading, records),
        filtering=_filters_in(reading),
        listing=listing,
        table=Table(_headings(visit, records, sorting), rows),
        addressed=lambda **changes: _address(visit, changes),
        call=call_of(visit, records.find, filters=filters) if listing is not None else None,
    )


async def _rows(
    visit: Visit, workspace: Workspace, records: Records, found: Sequence[Any], shown: Shown
) -> list[Row]:
    """The rows of the list, with figures if its records have any."""
    if records.measured_by and found:
        shown.figures = await figures_of(visit, workspace, records.measured_by, found)
    return await table_of(visit, records, found, shown, records.columns)


def _suggesting(each: Field) -> Field:
    lookup = LOOKUPS.get(each.name)
    if lookup is None or each.kind != "text":
        return each
    return replace(each, attributes={"data-suggest": lookup.many, "maxlength": LONGEST})


async def _look_up(visit: Visit, workspace: Workspace, fields: Sequence[Field], reading: Reading) -> Texts:
    """Read ids where records are named; gives what the form shows in their place."""
    shown: Texts = {}
    for each in fields:
        text = next(iter(reading.texts.get(each.name, ())), "").strip()
        if "data-suggest" not in each.attributes or text in ("", NONE):
            continue
        lookup = LOOKUPS[each.name]
        try:
            record = await lookup.one_of(visit, workspace, each.name, text)
        except Invalid as invalid:
            if not _is_id(text):
                reading.problems += invalid.problems
            # What is deleted has no name, but rows of it.
            continue
        reading.data[each.name] = [str(record.id)] if each.in_list else str(record.id)
        shown[each.name] = [lookup.names(record)[0]]
    return shown


def _is_id(text: str) -> bool:
    with suppress(ValueError):
        return bool(UUID(text))
    return False


def _split(fields: Sequence[Field], records: Records) -> tuple[list[Field], list[Field]]:
    """The main filters, and the others."""
    main = [each for each in fields if each.name in records.main_filters]
    return main, [each for each in fields if each.name not in records.main_filters]


def _more_is_open(reading: Reading, records: Records) -> bool:
    return bool(_filters_in(reading) - set(records.main_filters))


def _filters_in(reading: Reading) -> frozenset[str]:
    return frozenset(name for name in reading.data if name not in _OWN and name != "timezone")


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
        headings.append(Heading(column.title, _address(visit, {"sorting": key, "page": None}), direction))
    return headings


def _address(visit: Visit, changes: Mapping[str, Any]) -> str:
    """The page's own address with other parameters; None leaves one out."""
    pairs = [
        (name, value)
        for name, value in visit.request.query_params.multi_items()
        if name not in changes and value
    ]
    pairs += [(name, str(value)) for name, value in changes.items() if value is not None]
    return f"{visit.request.url.path}?{urlencode(pairs)}".removesuffix("?")
