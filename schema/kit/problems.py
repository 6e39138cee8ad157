"""What pydantic says of input that it refuses, as problems of ours, and the names of their places."""

import re
from collections.abc import Collection, Iterator, Sequence
from difflib import get_close_matches
from inspect import isclass
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from schema.errors import LONGEST_MESSAGE, LONGEST_NAME, MOST_PROBLEMS, Invalid, Problem, problem, shortened

_SUBJECT = re.compile(r"(?:Input|String|List|Value|Object|URL|Metadata) should ")
_OBJECTS = frozenset({"model_type", "dict_type", "model_attributes_type"})
_BOUNDS = {"less_than_equal": ("le", min), "greater_than_equal": ("ge", max)}
# Looking for a similar name takes a while; a caller who misspelt more of them has a cause in common.
MOST_SUGGESTIONS = 5


def problems_of(
    error: ValidationError, model: type[BaseModel] | None = None, unnamed: Collection[str] = ()
) -> list[Problem]:
    """The first 100 of pydantic's problems in our form, without inputs that are containers or secrets.

    With the `model` that refused the input, they name what a misspelt field may stand for, and the bounds of
    the field itself. The fields of the model in `unnamed` are not proposed.
    """
    problems, suggestions = [], MOST_SUGGESTIONS
    # A batch may have thousands, which nobody reads: they are counted.
    for entry in error.errors(include_url=False)[:MOST_PROBLEMS]:
        loc = _readable(entry["loc"])
        message = _message(entry)
        if entry["type"] == "extra_forbidden":
            message = f"`{shortened(str(loc[-1]).removeprefix('?'), LONGEST_NAME)}` is not accepted"
            if model is not None and suggestions:
                suggestions -= 1
                names = _names_at(model, loc[:-1])
                hidden = () if len(loc) > 1 else unnamed
                message += _suggestion(str(loc[-1]), [name for name in names if name not in hidden])
        elif model is not None and entry["type"] in _BOUNDS:
            message = _own_bound(entry, message, _fields_at(model, loc))
        problems.append(problem(loc, message, entry["type"], input=entry["input"]))
    return problems


def invalid_of(
    error: ValidationError, model: type[BaseModel] | None = None, unnamed: Collection[str] = ()
) -> Invalid:
    """The failure of input that pydantic refused, which also counts the problems that are not listed."""
    return Invalid(problems_of(error, model, unnamed), max(error.error_count() - MOST_PROBLEMS, 0))


def name_of(place: Sequence[str | int]) -> str:
    """The name of a place as its caller wrote it, like `prices.0.price_amount`; empty for a whole request."""
    return ".".join(str(part) for part in place)


def named(entry: Problem, name: str, whole: str = "Input") -> Problem:
    """The problem with its place's name in the sentence; `whole` is what has no name, such as the body."""
    message = str(entry["msg"])
    if not name:
        return entry | {"msg": _SUBJECT.sub(f"{whole} should ", message, count=1)}
    short = f"`{entry['loc'][-1]}` "
    if message.startswith(short):
        message = f"`{name}` {message.removeprefix(short)}"
    elif not names(message, name):
        subject = _SUBJECT.match(message)
        message = f"`{name}` should {message[subject.end() :]}" if subject else f"`{name}`: {message}"
    return entry | {"msg": shortened(message, LONGEST_MESSAGE)}


def names(message: str, name: str) -> bool:
    """Whether the sentence has the name of the place, or the last part of it, in backticks."""
    last = name.rpartition(".")[2]
    return f"`{name}`" in message or (not last.isdecimal() and f"`{last}`" in message)


def types_in(annotation: Any) -> Iterator[Any]:
    """The classes in an annotation, through its wrappers, unions and lists."""
    if hasattr(annotation, "__supertype__"):
        annotation = annotation.__supertype__
    if arguments := get_args(annotation):
        for argument in arguments:
            yield from types_in(argument)
    else:
        yield annotation


def _message(entry: Any) -> str:
    if entry["type"] == "missing" and entry["msg"] == "Field required":
        return f"`{entry['loc'][-1]}` is required"
    if entry["type"] in _OBJECTS:
        return "Input should be an object"
    cause = (entry.get("ctx") or {}).get("error")
    # How a list is read is nothing to its sender.
    return str(cause) if isinstance(cause, ValueError) else str(entry["msg"]).replace(" after validation", "")


def _suggestion(sent: str, names: Sequence[str]) -> str:
    """What the name that was sent may stand for, in whatever spelling."""
    # Nothing of ours is that long, and to compare letters takes a while.
    if len(sent) > LONGEST_NAME:
        return ""
    plain = {name.replace("_", ""): name for name in names}
    close = get_close_matches(sent.removeprefix("?").replace("_", "").lower(), plain, n=1)
    return f"; did you mean `{plain[close[0]]}`?" if close else ""


def _own_bound(entry: Any, message: str, fields: Sequence[FieldInfo]) -> str:
    """The message with the bound of the field, which its type may exceed."""
    name, narrowest = _BOUNDS[entry["type"]]
    passed = entry.get("ctx", {}).get(name)
    # A validator of ours says its bound in the sentence alone.
    if passed is None:
        return message
    declared = (getattr(item, name, None) for field in fields for item in field.metadata)
    bounds = [bound for bound in declared if bound is not None]
    return message.replace(str(passed), str(narrowest([passed, *bounds])), 1)


def _names_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[str]:
    """The names that are accepted at a place. Those of the parameters of an operation stand side by side."""
    accepted: list[str] = []
    for type_ in _models_at(model, loc):
        for name, field in type_.model_fields.items():
            spread = [each for each in types_in(field.annotation) if _is_spread(each)] if not loc else []
            accepted += [name] if not spread else spread[0].model_fields
    return accepted


def _is_spread(type_: Any) -> bool:
    return isclass(type_) and issubclass(type_, BaseModel) and getattr(type_, "is_spread", False)


def _fields_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[FieldInfo]:
    """The fields at a place; those of its list for an item."""
    names = [part for part in loc if isinstance(part, str)]
    owners = _models_at(model, names[:-1])
    return [owner.model_fields[names[-1]] for owner in owners if names and names[-1] in owner.model_fields]


def _models_at(model: type[BaseModel], loc: Sequence[str | int]) -> list[type[BaseModel]]:
    models = [model]
    for part in loc:
        if isinstance(part, str):
            fields = [each.model_fields[part] for each in models if part in each.model_fields]
            inside = [type_ for field in fields for type_ in types_in(field.annotation)]
            models = [each for each in inside if isclass(each) and issubclass(each, BaseModel)]
    return models


def _readable(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    # Pydantic adds union branches and key markers to a location, which callers did not send.
    return tuple(
        part
        for part in loc
        if not (isinstance(part, str) and (part == "[key]" or part.startswith("function-")))
    )
