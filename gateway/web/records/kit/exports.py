"""A list as a file for spreadsheets: all the rows that its page shows on all its pages, in the same order."""

import csv
from collections.abc import Sequence
from datetime import datetime
from io import StringIO
from typing import Any

from starlette.responses import Response

from gateway.web.kit.moments import DEFAULT_ZONE, zone_of
from gateway.web.kit.visits import NEVER_KEEP, Visit
from gateway.web.records.kit.cells import Cell, Shown
from gateway.web.records.kit.filters import Asked, address_of, read_asked
from gateway.web.records.kit.lists import rows_of
from gateway.web.records.kit.records import Records
from resolvers.operations.security_events import note_export
from schema.errors import Invalid
from schema.kit.pages import MOST_PER_PAGE
from schema.values.prose import write_number, write_size
from schema.values.spreadsheets import harmless
from storage.metrics.zones import in_zone
from storage.objects.names import content_disposition, safe_name

MOST_ROWS = 5000
MOST_LETTERS = 16 * 1024 * 1024
# Excel takes a file without it for one in the encoding of its country.
_MARK = "\N{ZERO WIDTH NO-BREAK SPACE}"


class _TooLong(Exception):
    """The list has more than a file may have."""


async def export_list(visit: Visit, records: Records) -> Response:
    """The rows that the filters of the address select, as CSV; the page says why if there is no file."""
    asked = await read_asked(visit, records)
    page = address_of(visit, {}, f"/{asked.workspace.slug}/{records.path}")
    try:
        sheet = await _sheet_of(visit, records, asked)
    except Invalid:
        return visit.redirect(page)
    except _TooLong:
        most = f"A file has at most {write_number(MOST_ROWS)} rows and {write_size(MOST_LETTERS)}."
        return visit.redirect(page, f"{most} Use filters to export a part of the list.")
    note_export(visit.ctx.caller)
    named = content_disposition(safe_name(f"{records.area} of {asked.workspace.name}.csv"), attachment=True)
    headers = {"Content-Disposition": named, "Cache-Control": NEVER_KEEP}
    return Response(_MARK + sheet.written(), media_type="text/csv", headers=headers)


async def _sheet_of(visit: Visit, records: Records, asked: Asked) -> "_Sheet":
    """Raises `Invalid` for the filters, and `_TooLong`."""
    shown = Shown(f"/{asked.workspace.slug}")
    sheet = _Sheet([column.title for column in records.columns], zone_of(visit.request) or DEFAULT_ZONE)
    place: dict[str, Any] = {"limit": MOST_PER_PAGE}
    while True:
        listing = await visit.call(records.find, filters=asked.filters | place)
        if (listing.meta.total or len(sheet.rows)) > MOST_ROWS or sheet.letters > MOST_LETTERS:
            raise _TooLong
        rows = await rows_of(visit, asked.workspace, records, listing.data, shown)
        for record, row in zip(listing.data, rows, strict=True):
            sheet.add(row.cells, str(record.id))
        if listing.meta.next_cursor is None:
            return sheet
        place["after"] = listing.meta.next_cursor


class _Sheet:
    """Rows of cells, each in the columns of its value and of its unit, and with the id of its record last.

    Amounts in other currencies than the first have a column for each currency.
    """

    def __init__(self, titles: Sequence[str], zone: str) -> None:
        self.titles, self.zone = titles, zone
        self.rows: list[list[str]] = []
        self.letters = 0
        self.moments: set[int] = set()
        self.units: set[int] = set()
        self.others: list[dict[tuple[int, str], str]] = []

    def add(self, cells: Sequence[Cell], id: str) -> None:
        row, others = [], dict[tuple[int, str], str]()
        for place, cell in enumerate(cells):
            if cell.unit:
                self.units.add(place)
            if cell.kind == "moment":
                self.moments.add(place)
            if cell.kind == "amounts":
                others |= {(place, each.unit): each.number for each in cell.value if each.unit != cell.unit}
            row += [self._text(cell), cell.unit]
        self.letters += sum(map(len, [*row, *others.values()]))
        self.rows.append([*row, id])
        self.others.append(others)

    def written(self) -> str:
        """The file: a column with units only where there are any."""
        headings: list[str] = []
        for place, title in enumerate(self.titles):
            headings += [f"{title} ({self.zone})" if place in self.moments else title, f"{title}: unit"]
        kept = [place for place in range(2 * len(self.titles)) if place % 2 == 0 or place // 2 in self.units]
        more = sorted({key for others in self.others for key in others})
        written = StringIO()
        table = csv.writer(written)
        added = [f"{self.titles[place]}: {unit}" for place, unit in more]
        table.writerow([*(headings[place] for place in kept), *added, "ID"])
        for row, others in zip(self.rows, self.others, strict=True):
            table.writerow([*(row[place] for place in kept), *(others.get(key, "") for key in more), row[-1]])
        return written.getvalue()

    def _text(self, cell: Cell) -> str:
        if cell.number:
            return cell.number
        if isinstance(cell.value, datetime):
            # As spreadsheets read it, in the page's zone, which the heading names.
            return f"{in_zone(cell.value, self.zone):%Y-%m-%d %H:%M:%S}"
        return harmless(_words(cell))


def _words(cell: Cell) -> str:
    match cell.kind:
        case "nothing":
            return ""
        case "pictured":
            return cell.note
        case "pairs":
            return "; ".join(f"{key}: {text}" for key, text in cell.value)
        case "parts":
            return "; ".join(f"{label}: {_words(part)}" for label, part in cell.value)
        case "list":
            return "; ".join(map(_words, cell.value))
    return str(cell.value)
