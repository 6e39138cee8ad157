"""Between what a form holds and what an operation takes: texts by name, and the data of the API."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

from gateway.web.kit.amounts import AmountRefused, major_units, read_amount
from gateway.web.kit.forms import Form
from gateway.web.records.kit.fields import LEFT_OUT, Field
from schema.errors import Invalid, Problem, problem
from schema.values.prose import write_amount

Texts = dict[str, list[str]]

_INTEGERS = re.compile(r"-?\b[0-9]{1,18}\b", re.ASCII)
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_YES, _NO = frozenset({"yes", "true", "1", "on"}), frozenset({"no", "false", "0", "off"})


@dataclass
class Reading:
    """What a form says. `texts` are its values with the rows numbered without gaps, as `data` has them.

    `currencies` has those of the amounts, by the name that `texts` has for each.
    """

    data: dict[str, Any] = field(default_factory=dict)
    texts: Texts = field(default_factory=dict)
    currencies: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)


def read(form: Form, fields: Sequence[Field], default_currency: str = "") -> Reading:
    """The data of a sent form. `default_currency` is that of amounts whose currency is not chosen."""
    reading = Reading()
    reading.data = _Reader(form, reading, default_currency).read_all(fields, "", "")
    return reading


@dataclass
class _Reader:
    form: Form
    reading: Reading
    default_currency: str

    def read_all(self, fields: Sequence[Field], source: str, target: str) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for each in fields:
            value = self._value(each, source, target)
            if value is not LEFT_OUT:
                data[each.name] = value
        return data

    def _value(self, each: Field, source: str, target: str) -> Any:
        name, kept = source + each.name, target + each.name
        if each.kind == "group":
            data = self.read_all(each.parts, f"{name}.", f"{kept}.")
            return data or ({} if each.empty is None else each.empty)
        if each.kind in ("rows", "pairs"):
            return self._rows(each, name, kept)
        texts = self.form.all(name)
        if each.kind == "files":
            chosen = list(dict.fromkeys(text for text in texts if text))
            self.reading.texts[kept] = chosen
            return chosen
        if each.kind == "checkbox":
            self.reading.texts[kept] = texts
            return bool(texts)
        text = self.form.text(name)
        self.reading.texts[kept] = [self.form.raw(name)]
        if not text:
            return each.empty
        value = self._converted(each, text, source, kept)
        return [value] if each.in_list else value

    def _rows(self, each: Field, name: str, kept: str) -> Any:
        rows: list[dict[str, Any]] = []
        for number in rows_in(self.form.values, name):
            source = f"{name}.{number}."
            if each.only_one or not _is_blank(self.form, each.parts, source):
                rows.append(self.read_all(each.parts, source, f"{kept}.{len(rows)}."))
        if each.kind == "rows":
            return rows
        if each.in_list:
            return rows or LEFT_OUT
        return {
            str(row.get("key", "")): self._metadata_value(row, f"{kept}.{number}.value")
            for number, row in enumerate(rows)
        }

    def _metadata_value(self, row: Mapping[str, Any], name: str) -> Any:
        text, kind = str(row.get("value", "")), row.get("kind", "text")
        if kind == "number":
            number = _number(text)
            if number is None:
                self._refuse(name, "Enter a number, such as 12.5")
            return number
        if kind == "boolean":
            if text.lower() not in _YES | _NO:
                self._refuse(name, "Enter yes or no")
            return text.lower() in _YES
        return text

    def _converted(self, each: Field, text: str, source: str, kept: str) -> Any:
        if each.kind == "integer" and _INTEGER.fullmatch(text):
            return int(text)
        if each.kind == "money":
            currency = self.form.text(source + each.currency) or self.default_currency
            self.reading.currencies[kept] = currency
            try:
                return read_amount(text, currency)
            except AmountRefused as refused:
                self._refuse(kept, str(refused))
                return LEFT_OUT
        if each.kind == "choice" and text in ("true", "false") and ("true", "Yes") in each.options:
            return text == "true"
        if each.kind == "area":
            # Browsers end the lines of a text area with both characters.
            return self.form.raw(source + each.name).replace("\r\n", "\n")
        return text

    def _refuse(self, name: str, message: str) -> None:
        loc = (int(part) if part.isdigit() else part for part in name.split("."))
        self.reading.problems.append(problem(("data", *loc), message, "value"))


def rows_in(values: Mapping[str, Any], name: str) -> list[int]:
    """The numbers of the rows that the form has of a field."""
    own = re.compile(rf"{re.escape(name)}\.([0-9]{{1,4}})\.")
    return sorted({int(found[1]) for text in values if (found := own.match(text))})


def _is_blank(form: Form, parts: Iterable[Field], source: str) -> bool:
    for part in parts:
        text = form.text(source + part.name)
        if text and part.kind != "checkbox" and not (part.options and text == part.options[0][0]):
            return False
    return True


def _number(text: str) -> int | float | None:
    """A number as JSON has it; None for another text."""
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def filled(
    fields: Sequence[Field], values: Mapping[str, Any], place: str = "", *, currency: str = ""
) -> Texts:
    """The texts of a form that shows these values, which are as REST writes them.

    `currency` is that of amounts without one of their own.
    """
    texts: Texts = {}
    for each in fields:
        name, value = place + each.name, values.get(each.name)
        if each.kind == "group":
            texts |= filled(each.parts, value or {}, f"{name}.")
        elif each.kind == "rows":
            for number, row in enumerate(value or ()):
                texts |= filled(each.parts, row, f"{name}.{number}.")
        elif each.kind == "pairs":
            for number, (key, item) in enumerate((value or {}).items()):
                texts |= filled(each.parts, _pair(key, item), f"{name}.{number}.")
        elif each.kind == "files":
            texts[name] = [str(file["id"] if isinstance(file, Mapping) else file) for file in value or ()]
        elif each.kind == "checkbox":
            texts[name] = ["on"] if value else []
        elif each.kind == "money" and value is not None:
            texts[name] = [major_units(value, values.get(each.currency) or currency)]
        else:
            texts[name] = ["" if value is None else str(value)]
    return texts


def _pair(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"key": key, "value": "yes" if value else "no", "kind": "boolean"}
    return {"key": key, "value": value, "kind": "text" if isinstance(value, str) else "number"}


def placed(invalid: Invalid, fields: Sequence[Field], reading: Reading) -> Invalid:
    """The same problems, each at the field of the form that it is about; others are about the whole form.

    The API speaks of amounts in minor units, which people do not: their messages have them written out.
    """
    problems = []
    for entry in invalid.problems:
        _, *loc = entry["loc"] or [""]
        name = _name_of(loc, fields, reading)
        # The form's own messages have amounts as people write them.
        currency = None if entry in reading.problems else reading.currencies.get(name)
        msg = entry["msg"] if currency is None else _with_amounts(entry, currency)
        problems.append({**entry, "msg": msg, "loc": ["data", name] if name else []})
    return Invalid(problems, invalid.more)


_BOUNDS = {"greater_than_equal": "at least", "less_than_equal": "at most"}


def _with_amounts(entry: Problem, currency: str) -> str:
    """The message of a problem with an amount, whose whole numbers are all in minor units."""
    bounds = _INTEGERS.findall(entry["msg"])
    if entry["type"] in _BOUNDS and len(bounds) == 1:
        return f"Enter {_BOUNDS[entry['type']]} {write_amount(int(bounds[0]), currency)}"
    return _INTEGERS.sub(lambda found: write_amount(int(found[0]), currency), entry["msg"])


def _name_before_key(last: Field | None) -> str | None:
    """The name of a field of metadata, after which a location has a key."""
    return last.name if last is not None and last.kind == "pairs" and not last.in_list else None


def _name_of(loc: Sequence[str | int], fields: Sequence[Field], reading: Reading) -> str:
    path: list[str] = []
    parts = {each.name: each for each in fields}
    last: Field | None = None
    for part in loc:
        pairs = _name_before_key(last)
        if pairs is not None and path[-1] == pairs and isinstance(part, str):
            keys = list(reading.data.get(pairs, ()))
            path += [str(keys.index(part)), "value"] if part in keys else []
            break
        if isinstance(part, int) and last is not None and last.kind in ("rows", "pairs"):
            path.append(str(part))
        elif isinstance(part, str) and part in parts:
            last = parts[part]
            path.append(part)
            parts = {each.name: each for each in last.parts}
        else:
            break
    # A problem of a whole row is shown at its first field.
    if last is not None and path[-1:] and path[-1].isdigit():
        path.append(last.parts[0].name)
    return ".".join(path)
