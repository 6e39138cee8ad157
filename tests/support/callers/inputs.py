"""Inputs made from the operations' own models: near enough to valid to reach every rule, often not valid."""

from datetime import date
from decimal import Decimal
from enum import Enum
from inspect import isclass
from typing import Any, get_args, get_origin
from uuid import UUID

from hypothesis import strategies as st
from pydantic import BaseModel

from resolvers.operations.declaration import Operation
from schema.kit.annotations import is_list, unwrap

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
    type_ = unwrap(annotation)
    plausible = _plausible(type_, depth)
    if get_origin(type_) is list:
        return plausible | plausible | st.none()
    return plausible | plausible | plausible | JUNK


def filters_for(operation: Operation) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments of a list: plausible values, in and out of bounds; REST cannot send an empty list."""
    if operation.filters is None:
        return st.just({})
    fields = operation.filters.model_fields
    return st.fixed_dictionaries(
        {},
        optional={
            name: st.lists(values, min_size=1, max_size=2) if is_list(field.annotation) else values
            for name, field in fields.items()
            if (values := _filter_values(unwrap(field.annotation))) is not None
        },
    )


def _filter_values(type_: Any) -> st.SearchStrategy[Any] | None:
    if get_origin(type_) is list:
        return _filter_values(unwrap(get_args(type_)[0]))
    if type_ is int:
        return st.sampled_from([-1, 0, 1, 2, 100, 101, 2**31 - 1])
    if type_ is bool:
        return st.booleans()
    if isclass(type_) and issubclass(type_, Enum):
        return st.sampled_from([member.value for member in type_])
    if type_ is date:
        return st.sampled_from(["2026-01-31", "2026-02-01", "1972-12-31", "2026-01-31T00:00:00Z", "20260131"])
    if type_ in (str, UUID):
        return st.sampled_from([text for text in TEXTS if text])
    return None


def _plausible(type_: Any, depth: int) -> st.SearchStrategy[Any]:
    if get_origin(type_) is list:
        return st.lists(values_for(get_args(type_)[0], depth - 1), max_size=2)
    if isclass(type_) and issubclass(type_, Enum):
        return st.sampled_from([member.value for member in type_])
    if isclass(type_) and issubclass(type_, BaseModel):
        return data_for(type_, depth - 1) if depth else st.just({})
    if type_ is bool:
        return st.booleans()
    if type_ in (int, float, Decimal):
        return st.sampled_from(NUMBERS)
    if get_origin(type_) is dict:
        return st.dictionaries(
            st.sampled_from(["a", "", "k" * 41, "ü"]), st.sampled_from(TEXTS) | JUNK, max_size=3
        )
    return st.sampled_from(TEXTS)
