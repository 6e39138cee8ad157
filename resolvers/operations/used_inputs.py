"""Which fields of its body a request has, through nested objects and lists."""

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import Any, ParamSpec

import structlog
from pydantic import BaseModel
from strawberry.utils.str_converters import to_camel_case

from schema.kit.base import Input
from schema.kit.deprecation import deprecation_of
from storage.caches import Cache
from storage.enums import UsageKind, UsageSurface
from storage.usage.usage import Part, Used

log = structlog.get_logger()

Params = ParamSpec("Params")
# An input, the dotted path to it and the name of one of its fields.
Field = tuple[type[BaseModel], str, str]

# Of a list, where looking at a thousand events would take half as long as validating them.
MOST_ITEMS = 10
MOST_KEPT = 1024 * 1024
BYTES_OF_A_PART = 400
_kept: Cache[tuple[UsageSurface, str, frozenset[Any]], Used] = Cache(MOST_KEPT)


def kept_bytes() -> int:
    """The memory that kept names of inputs take, as estimated."""
    return _kept.size


def never_failing(find: Callable[Params, Used]) -> Callable[Params, Used | None]:
    """The same without errors: what cannot be counted must not fail a request."""

    @wraps(find)
    def found(*args: Params.args, **named: Params.kwargs) -> Used | None:
        try:
            return find(*args, **named)
        except Exception as error:  # noqa: BLE001 - whatever it is, the request goes on
            log.error("usage not counted", reason=type(error).__name__)
            return None

    return found


def fields_of_body(data: Any) -> frozenset[Field]:
    """The fields that were sent with another value than their default, each once."""
    found: set[Field] = set()
    _collect(data, "", found)
    return frozenset(found)


@never_failing
def used_inputs(data: Any) -> Used:
    """What the body of a mutation uses of GraphQL's inputs."""
    fields = frozenset((owner, name) for owner, _, name in fields_of_body(data))
    key = (UsageSurface.GRAPHQL, "", fields)
    used = _kept.get(key)
    if used is None:
        parts = tuple(
            Part(UsageKind.INPUT_FIELD, f"{owner.__name__}.{to_camel_case(name)}", is_deprecated(owner, name))
            for owner, name in fields
        )
        used = keep(key, parts)
    return used


def kept_used(surface: UsageSurface, place: str, names: frozenset[Any]) -> Used | None:
    """What requests to a place with the same names use, if there were some."""
    return _kept.get((surface, place, names))


def keep(key: tuple[UsageSurface, str, frozenset[Any]], parts: Sequence[Part]) -> Used:
    used = Used(key[0], parts)
    _kept.keep(key, used, BYTES_OF_A_PART * (len(parts) + 1))
    return used


def is_deprecated(owner: type[BaseModel], name: str) -> bool:
    return deprecation_of(owner.model_fields[name]) is not None


def _collect(model: Any, path: str, found: set[Field]) -> None:
    owner, values = type(model), model.__dict__
    declared = owner.model_fields
    for name in model.model_fields_set:
        value, field = values[name], declared[name]
        # GraphQL fills in the defaults that its schema declares, so those do not count on either surface.
        if value is field.default or (not value and (value == field.default or field.default_factory)):
            continue
        found.add((owner, path, name))
        for item in _nested(value):
            _collect(item, f"{path}{name}.", found)


def _nested(value: Any) -> Iterator[Input]:
    value = getattr(value, "value", value) if type(value).__name__ == "Some" else value
    if isinstance(value, Input):
        yield value
    elif isinstance(value, list):
        for item in value[:MOST_ITEMS]:
            if isinstance(item, Input):
                yield item
