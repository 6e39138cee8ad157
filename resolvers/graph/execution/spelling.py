"""Problems in GraphQL's spelling: names in camel case, values of enums by their names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum, StrEnum
from inspect import isclass
from typing import Any

from pydantic import BaseModel
from strawberry.utils.str_converters import to_camel_case

from schema.errors import Problem
from schema.kit.problems import name_of, types_in
from storage import enums

# Messages write a name or value of more than one word with an underscore, and nothing else.
_WORD = re.compile(r"(?<![\w:./-])[a-z]+(?:_[a-z0-9]+)+(?![\w:/-])")
_QUOTED = re.compile(r"'([^']*)'")
_VALUES = {
    member.value: name
    for enum in vars(enums).values()
    if isclass(enum) and issubclass(enum, StrEnum)
    for name, member in enum.__members__.items()
}


def spelled(entry: Problem, annotations: Mapping[str, Any]) -> Problem:
    """The problem with GraphQL's names in its place and sentence.

    Its `loc` begins with one of the arguments, whose annotations are given by their names in snake case.
    """
    first, *rest = entry["loc"] or [""]
    if first not in annotations:
        return entry | {"msg": _message_in_words(entry)}
    loc, types = [to_camel_case(first)], list(types_in(annotations[first]))
    for part in rest:
        fields = [type_.model_fields[part] for type_ in types if _has_field(type_, part)]
        loc.append(to_camel_case(part) if fields else part)
        if not isinstance(part, int):
            types = [type_ for field in fields for type_ in types_in(field.annotation)]
    names = {each.value: name for type_ in types for name, each in _members_of(type_)}
    message = _message_in_words(entry)
    if entry["type"] == "enum":
        message = _QUOTED.sub(lambda match: f"'{names.get(match[1], match[1])}'", entry["msg"])
    return entry | {"loc": loc, "msg": message}


def graphql_name(loc: Sequence[str | int]) -> str:
    """The name of a place, without the argument `data` around it."""
    return name_of(loc[1:] if len(loc) > 1 and loc[0] == "data" else loc)


def _message_in_words(entry: Problem) -> str:
    if entry["type"] != "extra_forbidden":
        return _in_words(entry["msg"])
    # The name that is not accepted stays as the caller wrote it.
    sent, mark, suggested = entry["msg"].partition("; did you mean ")
    return f"{sent}{mark}{_in_words(suggested)}"


def _in_words(message: str) -> str:
    return _WORD.sub(lambda match: _VALUES.get(match[0]) or to_camel_case(match[0]), message)


def _has_field(type_: Any, name: str | int) -> bool:
    return isclass(type_) and issubclass(type_, BaseModel) and name in type_.model_fields


def _members_of(type_: Any) -> Iterable[tuple[str, Enum]]:
    return type_.__members__.items() if isclass(type_) and issubclass(type_, Enum) else ()
