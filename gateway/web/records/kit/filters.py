"""The filters of a list, read from the address of its page."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from gateway.web.kit.forms import Form
from gateway.web.kit.lookups import LONGEST, LOOKUPS
from gateway.web.kit.moments import DEFAULT_ZONE
from gateway.web.kit.visits import Visit
from gateway.web.kit.workspaces import workspace_of
from gateway.web.records.kit.choices import chosen_fields
from gateway.web.records.kit.fields import Field
from gateway.web.records.kit.records import Records
from gateway.web.records.kit.values import Reading, Texts, read, rows_in
from schema.errors import Invalid
from schema.values.prose import write_date
from schema.workspaces.workspaces import Workspace

# The value of a filter by what has none.
NONE = "none"
_DATES = {"start_date", "end_date"}


@dataclass(frozen=True)
class Chip:
    """A filter in force, in words; `href` is the list without it."""

    text: str
    href: str


@dataclass(frozen=True)
class Asked:
    """The list that an address asks for: its `fields` as its `form` fills them in, and what they say.

    `filters` are those of the operation, with the order but without a place in the list.
    """

    workspace: Workspace
    fields: Sequence[Field]
    form: Form
    reading: Reading
    sorting: Sequence[str]

    @property
    def filters(self) -> dict[str, Any]:
        """Raises `Invalid` if one of them cannot be read."""
        if self.reading.problems:
            raise Invalid(self.reading.problems)
        filters = {"workspace_id": [str(self.workspace.id)], **self.reading.data}
        if self.sorting:
            filters["sorting"] = self.sorting
        if not _DATES & filters.keys():
            filters.pop("timezone", None)
        return filters

    @property
    def in_force(self) -> frozenset[str]:
        """The names of the fields that select something."""
        return frozenset(name for name in self.reading.data if name != "timezone")

    def chips(self, address: Callable[[Mapping[str, Any]], str]) -> list[Chip]:
        """`address` is that of the page with other parameters, None for each that it leaves out."""
        chips = []
        for each in self.fields:
            if each.name not in self.in_force:
                continue
            if each.kind != "pairs":
                text = _words_of(each, self.form.text(each.name))
                chips.append(Chip(f"{each.label}: {text}", address({each.name: None, "page": None})))
                continue
            for number in rows_in(self.form.values, each.name):
                names = [f"{each.name}.{number}.{part.name}" for part in each.parts]
                text = " = ".join(map(self.form.text, names))
                if any(map(self.form.text, names)):
                    without = address({**dict.fromkeys(names), "page": None})
                    chips.append(Chip(f"{each.label}: {text}", without))
        return chips


async def read_asked(visit: Visit, records: Records) -> Asked:
    """What the address asks for; filters that cannot be read are among the problems of `reading`."""
    workspace = await workspace_of(visit)
    chosen = await chosen_fields(visit, workspace, records.filters(), records.filter_choices)
    sent = {name: visit.request.query_params.getlist(name) for name in visit.request.query_params}
    fields = [
        _offering(_suggesting(each), sent) if each.name in records.filter_choices else _suggesting(each)
        for each in chosen
    ]
    if any(field.name == "timezone" for field in fields):
        # Dates are those of the page's times.
        sent.setdefault("timezone", [workspace.timezone or DEFAULT_ZONE])
    reading = read(Form(sent), fields)
    form = Form(sent | await _look_up(visit, workspace, fields, reading))
    return Asked(workspace, fields, form, reading, sent.get("sorting", [])[-1:])


def address_of(visit: Visit, changes: Mapping[str, Any], path: str = "") -> str:
    """The page's own address, or `path`, with other parameters; None leaves one out."""
    pairs = [
        (name, value)
        for name, value in visit.request.query_params.multi_items()
        if name not in changes and value
    ]
    pairs += [(name, str(value)) for name, value in changes.items() if value is not None]
    return f"{path or visit.request.url.path}?{urlencode(pairs)}".removesuffix("?")


def _words_of(each: Field, text: str) -> str:
    """What a filter's value is called: as its options say, dates as people write them."""
    if each.kind == "date":
        with suppress(ValueError):
            return write_date(date.fromisoformat(text))
    return "None" if text == NONE else dict(each.options).get(text, text)


def _suggesting(each: Field) -> Field:
    lookup = LOOKUPS.get(each.name)
    if lookup is None or each.kind != "text":
        return each
    return replace(each, attributes={"data-suggest": lookup.many, "maxlength": LONGEST})


def _offering(each: Field, sent: Texts) -> Field:
    """A choice that offers what the address asks for, also if there is none of it yet or any more."""
    value = next(iter(sent.get(each.name, ())), "")
    if each.kind != "choice" or not value or value in dict(each.options):
        return each
    return replace(each, options=(*each.options, (value, value)))


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
                reading.problems += [{**found, "loc": ["filters", each.name]} for found in invalid.problems]
            # What is deleted has no name, but rows of it.
            continue
        reading.data[each.name] = [str(record.id)] if each.in_list else str(record.id)
        shown[each.name] = [lookup.names(record)[0]]
    return shown


def _is_id(text: str) -> bool:
    with suppress(ValueError):
        return bool(UUID(text))
    return False
