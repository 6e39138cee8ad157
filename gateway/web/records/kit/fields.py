"""The fields of forms, read from the declared fields of the operations' inputs."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import strawberry
from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from schema.kit.base import Input, Update
from schema.values.units import Unit
from storage.enums import Currency

LONG_TEXT = 1000
_IN_MINOR_UNITS = re.compile(r",? in minor units( of the currency)?")
Options = Sequence[tuple[str, str]]

# What a control that was left empty sends: nothing.
LEFT_OUT = object()


@dataclass(frozen=True)
class Words:
    """What a form says about a field in place of the schema, and what people choose its value from.

    `uploads`: the field lists ids of files, and this is the service they are uploaded for. `when`: another
    field of the form, then the values of it that make this field apply. `fixed`: the field is not shown,
    because the page's address has its value.
    """

    label: str = ""
    hint: str | None = None
    options: Options | None = None
    uploads: str = ""
    only_one: bool = False
    required: bool | None = None
    when: tuple[str, ...] = ()
    fixed: bool = False


NO_WORDS = Words()
TITLES = {
    "id": "ID",
    "external_id": "External ID",
    "external_customer_id": "External customer ID",
    "share_id_not": "Not this share",
    "customer_id_not": "Not this customer",
    "name_not": "Not this event",
}
NO_WORDS_AT_ALL: Mapping[str, Words] = {}
_KINDS: Mapping[type, str] = {bool: "checkbox", int: "integer", date: "date", datetime: "moment"}


@dataclass(frozen=True)
class Field:
    """A field of a form. `kind` is the macro of templates/record_fields.html that draws it.

    `parts` are the fields of a group, or those of each row. `empty` is what it sends if it is left empty, and
    `currency` the name of the field beside it with the currency of its amount.
    """

    name: str
    kind: str
    label: str
    hint: str = ""
    required: bool = False
    in_list: bool = False
    empty: Any = LEFT_OUT
    attributes: Mapping[str, Any] = field(default_factory=dict)
    options: Options = ()
    parts: tuple["Field", ...] = ()
    currency: str = ""
    uploads: str = ""
    only_one: bool = False
    when: tuple[str, ...] = ()
    unset: str = "Not set"

    def with_options(self, options: Options) -> "Field":
        first = () if self.required else (("", self.unset),)
        return replace(self, kind="choice", options=(*first, *options))


PAIR_PARTS = (
    Field("key", "text", "Key", attributes={"maxlength": 40}),
    Field("value", "text", "Value", attributes={"maxlength": 500}),
    Field(
        "kind", "choice", "Type", options=(("text", "Text"), ("number", "Number"), ("boolean", "Yes or no"))
    ),
)


def titled(name: str) -> str:
    """The name of a field as people write it: `price_amount`, `share_id` and `is_archived` as `Archived`."""
    if name in TITLES:
        return TITLES[name]
    words = name.removeprefix("is_").removesuffix("_id").replace("_", " ")
    return words[:1].upper() + words[1:]


def option_of(member: Enum) -> tuple[str, str]:
    """A value of an enumeration with its text."""
    value = str(member.value)
    return value, value.upper() if isinstance(member, Currency) else titled(value)


def fields_of(
    model: type[BaseModel],
    words: Mapping[str, Words] = NO_WORDS_AT_ALL,
    *,
    without: Collection[str] = (),
    selects: bool = False,
) -> tuple[Field, ...]:
    """The model's fields in the order of their declaration, but metadata last.

    `words` and `without` name them with dots, like `prices.price_amount`. With `selects`, the model has the
    filters of a list: each field can be left open.
    """
    return _Builder(words, without, selects).fields(model, "")


def unit_of(info: FieldInfo) -> Unit | None:
    """What the field's number counts, if its type says so."""
    _, notes = _read(info.annotation, [info])
    return next((note for note in _flat(notes) if isinstance(note, Unit)), None)


def fields_with_currencies(model: type[BaseModel]) -> Iterator[str]:
    for name, info in model.model_fields.items():
        if _read(info.annotation, [])[0] is Currency:
            yield name


@dataclass(frozen=True)
class _Builder:
    words: Mapping[str, Words]
    without: Collection[str]
    selects: bool

    def fields(self, model: type[BaseModel], place: str) -> tuple[Field, ...]:
        made = [
            self._field(model, name, f"{place}{name}")
            for name in model.model_fields
            if f"{place}{name}" not in self.without
        ]
        return tuple(sorted(made, key=lambda each: each.kind == "pairs"))

    def _field(self, model: type[BaseModel], name: str, path: str) -> Field:
        info, own = model.model_fields[name], self.words.get(path, NO_WORDS)
        type_, notes = _read(info.annotation, [info])
        in_list = get_origin(type_) is list
        if in_list:
            type_, notes = _read(get_args(type_)[0], notes)
        description = next((n.description for n in notes if isinstance(n, FieldInfo) and n.description), "")
        required = _is_required(model, name, info) if own.required is None else own.required
        kind = self._kind(type_, notes, in_list)
        made = Field(
            name,
            "hidden" if own.fixed else "files" if own.uploads else kind,
            own.label or titled(name),
            _hint(description, kind) if own.hint is None else own.hint,
            required,
            in_list,
            _empty(model, name, required),
            _attributes(notes, in_list),
            uploads=own.uploads,
            only_one=own.only_one,
            when=own.when,
            unset="Any" if self.selects else "Not set",
        )
        return self._completed(made, model, type_, path)

    def _completed(self, made: Field, model: type[BaseModel], type_: Any, path: str) -> Field:
        """The field with what its kind needs."""
        options = self.words.get(path, NO_WORDS).options
        if options is not None:
            return made.with_options(options)
        if made.kind == "choice":
            return replace(made, options=_options(type_, made))
        if made.kind in ("group", "rows"):
            return replace(made, parts=self.fields(type_, f"{path}."))
        if made.kind == "pairs":
            return replace(made, parts=PAIR_PARTS[:2] if made.in_list else PAIR_PARTS)
        if made.kind == "money":
            return replace(made, currency=next(fields_with_currencies(model), ""))
        return made

    def _kind(self, type_: Any, notes: Sequence[Any], in_list: bool) -> str:
        if get_origin(type_) is dict:
            return "pairs"
        if issubclass(type_, Input):
            return "pairs" if self.selects else "rows" if in_list else "group"
        if issubclass(type_, Enum):
            return "choice"
        if type_ is bool and self.selects:
            return "choice"
        if Unit.MINOR in _flat(notes):
            return "money"
        return _KINDS.get(type_) or _kind_of_text(notes)


def _read(annotation: Any, notes: list[Any]) -> tuple[Any, list[Any]]:
    """The type inside an annotation, and all that is annotated to it."""
    notes = [*notes]
    while True:
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin is Annotated:
            annotation, *more = arguments
            notes += more
        elif origin is strawberry.Maybe:
            annotation = arguments[0]
        elif origin in (Union, UnionType):
            annotation = next(item for item in arguments if item is not NoneType)
        elif hasattr(annotation, "__supertype__"):
            annotation = annotation.__supertype__
        else:
            return annotation, notes


def _kind_of_text(notes: Sequence[Any]) -> str:
    for note in _flat(notes):
        if isinstance(note, FieldInfo) and isinstance(note.json_schema_extra, dict):
            written = note.json_schema_extra.get("format")
            if written in ("email", "uri"):
                return "email" if written == "email" else "url"
        if isinstance(note, MaxLen) and note.max_length >= LONG_TEXT:
            return "area" if note.max_length > LONG_TEXT * 10 else "text"
    return "text"


def _attributes(notes: Sequence[Any], in_list: bool) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for note in () if in_list else _flat(notes):
        if isinstance(note, MaxLen):
            found.setdefault("maxlength", note.max_length)
        elif isinstance(note, MinLen) and note.min_length > 1:
            found.setdefault("minlength", note.min_length)
        elif isinstance(note, Ge):
            found.setdefault("min", note.ge)
        elif isinstance(note, Le):
            found.setdefault("max", note.le)
    return found


def _flat(notes: Sequence[Any]) -> Iterator[Any]:
    for note in notes:
        yield note
        if isinstance(note, FieldInfo):
            yield from note.metadata


def _options(type_: Any, made: Field) -> Options:
    if type_ is bool:
        return (("", made.unset), ("true", "Yes"), ("false", "No"))
    options = tuple(option_of(member) for member in type_)
    return options if made.required else (("", made.unset), *options)


def _is_required(model: type[BaseModel], name: str, info: FieldInfo) -> bool:
    if issubclass(model, Update):
        return name not in model.clears and name not in model.empties
    return info.is_required()


def _empty(model: type[BaseModel], name: str, required: bool) -> Any:
    if issubclass(model, Update) and not required:
        return None
    return "" if required else LEFT_OUT


def _hint(description: str, kind: str) -> str:
    text = description.replace("`", "")
    if kind == "money":
        # A form has the amount as people write it.
        text = _IN_MINOR_UNITS.sub("", text)
    return text if len(text) <= 180 else ""
