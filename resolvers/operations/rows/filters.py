"""Filters: how each argument of a list restricts its rows. Declared once, with places for the values.

A filter's condition depends only on the `form` of what was sent, so each form's statement is compiled once.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Column, ColumnElement, Select, and_, bindparam, not_, or_, true

from oauth.principals import Principal
from schema.kit.fields import NO_ID
from storage.dialects.matching import AnyOf, ListOf
from storage.dialects.metadata_text import MetadataText
from storage.totals.periods import Span

Condition = Callable[..., ColumnElement[bool]]
# Prefixes of the ids of rows that may be found, from the condition on what the caller sees and the places.
Candidates = Callable[..., Sequence[Select[str]]]


@dataclass(frozen=True)
class Filter:
    """`condition` is called with a place for each of the values that `values` makes of what was sent.

    `types` are the SQL types of the values; `form` says which of several conditions applies. With
    `of_caller`, the caller's principal comes before the places. `column` is set if the filter compares one;
    `side` is the side of a `Span` that the filter bounds. `candidates` says how an index of SQLite finds rows
    for a form, None if none does.
    """

    condition: Callable[[Hashable], Condition]
    values: Callable[[Any], Sequence[Any]]
    types: Callable[[Hashable], Sequence[Any]]
    form: Callable[[Any], Hashable] = field(default=lambda _: None)
    of_caller: bool = False
    column: Column[Any] | None = None
    side: str | None = None
    candidates: Callable[[Hashable], Candidates | None] = field(default=lambda _: None)

    def make(self, name: str, form: Hashable, principal: Principal) -> ColumnElement[bool]:
        """The condition for what was sent in this form, with places named after the argument."""
        before = [principal] if self.of_caller else []
        return self.condition(form)(*before, *self.places(name, form))

    def places(self, name: str, form: Hashable) -> list[BindParameter[Any]]:
        """The places for the values, named after the argument."""
        return [bindparam(f"{name}_{index}", type_=type_) for index, type_ in enumerate(self.types(form))]

    def is_equality(self, name: str, form: Hashable) -> bool:
        """Whether the condition is that the column of the argument's name has the only value."""
        return self.column is not None and self.column.name == name and form is True

    def named_values(self, name: str, sent: Any) -> dict[str, Any]:
        """The values of the places."""
        return {f"{name}_{index}": value for index, value in enumerate(self.values(sent))}


def any_of(column: Column[Any], prepare: Callable[[Any], Any] = lambda value: value) -> Filter:
    """One of the values sent. A single value is compared directly, so that an index can keep the order."""
    listed = ListOf(column.type)

    def prepared(sent: Any) -> list[Any]:
        return [_plain(prepare(value)) for value in (sent if isinstance(sent, list) else [sent])]

    def condition(is_single: Hashable) -> Condition:
        if is_single:
            return lambda place: column == place
        return lambda place: AnyOf(column, place)

    return Filter(
        condition,
        lambda sent: prepared(sent) if len(prepared(sent)) == 1 else [prepared(sent)],
        lambda is_single: [column.type if is_single else listed],
        lambda sent: not isinstance(sent, list) or len(sent) == 1,
        column=column,
    )


def any_or_none(column: Column[Any]) -> Filter:
    """One of the values sent; `NO_ID` among them stands for rows without one. Otherwise as `any_of`."""
    plain = any_of(column)

    def condition(form: Hashable) -> Condition:
        if not isinstance(form, _WithNone):
            return plain.condition(form)
        if not form.has_others:
            return lambda: column.is_(None)
        return lambda place: or_(column.is_(None), AnyOf(column, place))

    def types(form: Hashable) -> Sequence[Any]:
        return _types_beside_none(column, form) if isinstance(form, _WithNone) else plain.types(form)

    return replace(
        plain,
        condition=condition,
        values=lambda sent: _values_beside_none(sent) if NO_ID in sent else plain.values(sent),
        types=types,
        form=lambda sent: _form_beside_none(sent) if NO_ID in sent else plain.form(sent),
    )


def none_of(column: Column[Any]) -> Filter:
    """None of the values sent: rows without one too, unless `NO_ID` is among the values."""

    def condition(form: Hashable) -> Condition:
        if isinstance(form, _WithNone) and not form.has_others:
            return lambda: column.is_not(None)
        if isinstance(form, _WithNone):
            return lambda place: and_(column.is_not(None), not_(AnyOf(column, place)))
        return lambda place: or_(column.is_(None), not_(AnyOf(column, place)))

    return Filter(
        condition,
        _values_beside_none,
        lambda form: _types_beside_none(column, form),
        lambda sent: _form_beside_none(sent) if NO_ID in sent else None,
    )


class _WithNone(NamedTuple):
    """The form of values with `NO_ID` among them."""

    has_others: bool


def _form_beside_none(sent: Sequence[Any]) -> _WithNone:
    return _WithNone(any(value != NO_ID for value in sent))


def _values_beside_none(sent: Sequence[Any]) -> list[Any]:
    others = [_plain(value) for value in sent if value != NO_ID]
    return [] if NO_ID in sent and not others else [others]


def _types_beside_none(column: Column[Any], form: Hashable) -> list[Any]:
    return [] if isinstance(form, _WithNone) and not form.has_others else [ListOf(column.type)]


def at_or_after(column: Column[Any]) -> Filter:
    """The moment sent, or a later one."""
    return _bound(column, "begins")


def before(column: Column[Any]) -> Filter:
    """A moment before the one sent."""
    return _bound(column, "ends")


def changed_in(column: Column[Any]) -> dict[str, Filter]:
    """The filters of a `ChangesQuery`, by the column that has the moment of the last change."""
    return {"modified_since": at_or_after(column), "modified_before": before(column)}


def _bound(column: Column[Any], side: str) -> Filter:
    def condition(place: BindParameter[Any]) -> ColumnElement[bool]:
        return and_(*Span(**{side: place}).holds(column))

    return replace(custom(condition, lambda sent: [sent], column.type), column=column, side=side)


def chosen_values(
    filters: Mapping[str, Filter], forms: Iterable[tuple[str, Hashable]]
) -> dict[str, Any] | None:
    """What the filters in these forms ask of each column: the place of its value, or a `Span` of places.

    None if one of them asks for anything else.
    """
    values: dict[str, Any] = {}
    for name, form in forms:
        chosen = filters[name]
        if chosen.column is not None and chosen.side is not None:
            (place,) = chosen.places(name, form)
            span = values.get(chosen.column.name, Span())
            if getattr(span, chosen.side) is not None:
                return None  # A date and a moment bound the same side.
            values[chosen.column.name] = replace(span, **{chosen.side: place})
        elif chosen.is_equality(name, form):
            (values[name],) = chosen.places(name, form)
        else:
            return None
    return values


def metadata_pairs(column: Column[Any]) -> Filter:
    """The row's metadata contains every pair sent; GraphQL can send an empty list."""

    def condition(many: Hashable) -> Condition:
        def has_pairs(*places: BindParameter[Any]) -> ColumnElement[bool]:
            pairs = zip(places[::2], places[1::2], strict=True)
            return and_(true(), *(MetadataText(column, key) == value for key, value in pairs))

        return has_pairs

    return Filter(
        condition,
        lambda sent: [text for pair in sent for text in (pair.key, pair.value)],
        lambda many: [MetadataText.type] * (2 * int(str(many))),
        len,
    )


def custom(
    condition: Condition, values: Callable[[Any], Sequence[Any]], *types: Any, of_caller: bool = False
) -> Filter:
    """A condition of its own kind."""
    return Filter(lambda _: condition, values, lambda _: types, of_caller=of_caller)


def _plain(value: Any) -> Any:
    """An enum's value, as columns hold it."""
    return getattr(value, "value", value)
