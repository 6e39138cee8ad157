"""The parameters of resolvers, as both surfaces publish them."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pydantic.fields import FieldInfo

from schema.kit.annotations import unwrap
from schema.kit.base import Filters, Input

ABSENT = inspect.Parameter.empty


@dataclass(frozen=True)
class Parameter:
    """One parameter of a resolver, without `ctx`.

    `place` is `filters` (a model spread over query parameters and field arguments), `data` (the body)
    or `value` (a path parameter, or one query parameter).
    """

    name: str
    annotation: Any
    default: Any
    place: str


def parameters_of(resolver: Callable[..., Any]) -> list[Parameter]:
    """The parameters of a resolver after `ctx`."""
    signature = inspect.signature(resolver, eval_str=True)
    _, *others = signature.parameters.values()
    return [
        Parameter(item.name, item.annotation, item.default, _place_of(item.annotation)) for item in others
    ]


def _place_of(annotation: Any) -> str:
    type_ = unwrap(annotation)
    if inspect.isclass(type_) and issubclass(type_, Filters):
        return "filters"
    if inspect.isclass(type_) and issubclass(type_, Input):
        return "data"
    return "value"


def default_of(field: FieldInfo) -> Any:
    """A filter's default value, as in a signature."""
    return ABSENT if field.is_required() else field.get_default(call_default_factory=True)
