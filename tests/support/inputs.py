"""Inputs made from the operations' own models: near enough to valid to reach every rule, often not valid."""

from datetime import date
from decimal import Decimal
from enum import Enum
from inspect import isclass
from types import NoneType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin
from uuid import UUID

import strawberry
from hypothesis import strategies as st
from pydantic import BaseModel

from resolvers.operations.declaration import Operation

TEXTS = [
    "",
    "ab",
    "A name",
    "Ünï ✓",
    "x" * 300,
    "nul\x00",
    "ada@example.com",
    "no@mail@at",
    "https://example.com/a?b=c#d",
    "javascript:alert(1)",
    "https://" + "a" * 2090,
    "2026-01-31T09:30:00Z",
    "2026-01-31",
    "1700000000",
    "my-slug",
    "My Slug",
    "DE",
    "00000000-0000-4000-8000-000000000000",
]
NUMBERS = [-1, 0, 1, 7, 1500, 99_999_999, 100_000_000, 2**31, 2**53, 2**63, 2.0, 1.5]
JUNK = st.sampled_from([None, True, 0, 1.5, "x", [], {}, [1], {"a": 1}])
UNKNOWN = st.fixed_dictionaries({}, optional={"colour": st.just("red")})


def data_for(model: type[BaseModel], depth: int = 3) -> st.SearchStrategy[dict[str, Any]]:
    """Bodies for an input model, each field left out, plausible or junk; sometimes with an unknown field."""
    fields = {name: values_for(field.annotation, depth) for name, field in model.model_fields.items()}
    required = {name: fields.pop(name) for name in list(fields) if model.model_fields[name].is_required()}
    full = st.fixed_dictionaries(required, optional=fields)
    partial = st.fixed_dictionaries({}, optional={**required, **fields})
    return st.builds(lambda known, unknown: {**known, **unknown}, full | full | partial, UNKNOWN)


def values_for(annotation: Any, depth: int) -> st.SearchStrategy[Any]:
    """Mostly plausible values of a type, and junk; a list is never left unwrapped (GraphQL would wrap it)."""
    bare = _bare(annotation)
    plausible = _plausible(bare, depth)
    if get_origin(bare) is list:
        return plausible | plausible | st.none()
    return plausible | plausible | plausible | JUNK


def filters_for(operation: Operation) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of a list: plausible values, in and out of bounds."""
    if operation.filters is None:
        return st.just({})
    fields = operation.filters.model_fields
    return st.fixed_dictionaries(
        {},
        optional={
            name: st.lists(values, max_size=2) if get_origin(_bare(field.annotation)) is list else values
            for name, field in fields.items()
            if (values := _filter_values(_bare(field.annotation))) is not None
        },
    )


def _filter_values(bare: Any) -> st.SearchStrategy[Any] | None:
    if get_origin(bare) is list:
        return _filter_values(_bare(get_args(bare)[0]))
    if bare is int:
        return st.sampled_from([-1, 0, 1, 2, 100, 101, 2**31 - 1])
    if bare is bool:
        return st.booleans()
    if isclass(bare) and issubclass(bare, Enum):
        return st.sampled_from([member.value for member in bare])
    if bare is date:
        return st.sampled_from(["2026-01-31", "2026-02-01", "1972-12-31", "2026-01-31T00:00:00Z", "20260131"])
    if bare in (str, UUID):
        return st.sampled_from([text for text in TEXTS if text])
    return None


def _plausible(bare: Any, depth: int) -> st.SearchStrategy[Any]:
    if get_origin(bare) is list:
        return st.lists(values_for(get_args(bare)[0], depth - 1), max_size=2)
    if isclass(bare) and issubclass(bare, Enum):
        return st.sampled_from([member.value for member in bare])
    if isclass(bare) and issubclass(bare, BaseModel):
        return data_for(bare, depth - 1) if depth else st.just({})
    if bare is bool:
        return st.booleans()
    if bare in (int, float, Decimal):
        return st.sampled_from(NUMBERS)
    if get_origin(bare) is dict:
        return st.dictionaries(
            st.sampled_from(["a", "", "k" * 41, "ü"]), st.sampled_from(TEXTS) | JUNK, max_size=3
        )
    return st.sampled_from(TEXTS)


def _bare(annotation: Any) -> Any:
    """The annotation without `Annotated`, `Maybe`, `NewType` and `None`."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, strawberry.Maybe):
        return _bare(arguments[0])
    if origin in (Union, UnionType):
        return _bare(next(item for item in arguments if item is not NoneType))
    return _bare(annotation.__supertype__) if hasattr(annotation, "__supertype__") else annotation
