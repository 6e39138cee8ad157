"""Searching by a part of a text: filters that find rows by indexes of trigrams, where the database has them.

The part decides what is fast: PostgreSQL plans each search anew, and SQLite counts what its index finds
before it reads the rows one by one; of a part that many rows have, a page is read as if there were no index.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    Column,
    ColumnElement,
    FromClause,
    Select,
    Table,
    Text,
    and_,
    func,
    literal_column,
    or_,
    select,
    type_coerce,
    union,
)

from resolvers.operations.rows.filters import Candidates, Condition, Filter
from storage.dialects.parts import HasPart, InThisOrder, pattern
from storage.searching.sqlite import PREFIX, candidates, trigrams
from storage.searching.texts import SHORTEST, is_searched

# Rows that SQLite looks up one by one: it reads ten of a table in the time that this takes for one.
MOST_FOUND = 1000

Fold = Callable[[str], str]
# The largest character, and where the characters end that are halves of others.
_LAST, _HALVES, _AFTER_HALVES = "\U0010ffff", 0xD800, 0xE000
# No text that is searched by its beginning is as long.
_LONGER = 1000


def contains(column: Column[Any]) -> Filter:
    """The folded column contains the text sent, ignoring case."""
    return searching({column: [str.casefold]})


def searching(folds: Mapping[Column[Any], Sequence[Fold]], start: Column[Any] | None = None) -> Filter:
    """One of the columns contains the text sent as one of its folds makes it, or `start` starts with it."""
    search = _Search(folds, start)
    return Filter(search.condition, search.values, search.types, search.form, candidates=search.candidates)


@dataclass(frozen=True)
class _Form:
    """`chosen` says for each fold which of the different spellings it makes; trigrams find `is_long` ones."""

    chosen: tuple[int, ...]
    is_long: bool


@dataclass(frozen=True, eq=False)
class _Search:
    """The places: those of the patterns, the two bounds of `start`, and what SQLite's index is asked."""

    folds: Mapping[Column[Any], Sequence[Fold]]
    start: Column[Any] | None

    @property
    def _all_folds(self) -> list[Fold]:
        return list(dict.fromkeys(fold for folds in self.folds.values() for fold in folds))

    def _spellings(self, sent: str) -> list[str]:
        return list(dict.fromkeys(fold(sent) for fold in self._all_folds))

    def form(self, sent: str) -> _Form:
        spellings = self._spellings(sent)
        chosen = tuple(spellings.index(fold(sent)) for fold in self._all_folds)
        return _Form(chosen, min(map(len, spellings)) >= SHORTEST)

    def values(self, sent: str) -> list[str]:
        spellings = self._spellings(sent)
        bounds = [] if self.start is None else [sent, _end_of(sent)]
        return [*map(pattern, spellings), *bounds, " OR ".join(map(trigrams, spellings))]

    def types(self, form: Any) -> list[Text]:
        spellings = 1 + max(form.chosen)
        return [Text() for _ in range(spellings + 2 * (self.start is not None) + 1)]

    def condition(self, form: Any) -> Condition:
        def holds(*places: Any) -> ColumnElement[bool]:
            return or_(self._has_part(form, places)(None), *self._starts(places))

        return holds

    def candidates(self, form: Any) -> Candidates | None:
        if (
            not form.is_long
            or not isinstance(table := next(iter(self.folds)).table, Table)
            or not is_searched(table)
        ):
            return None

        def find(seen: ColumnElement[bool], *places: Any) -> list[Select[str]]:
            found = candidates(table, self._has_part(form, places), places[-1], MOST_FOUND + 1)
            for starts in self._starts(places):
                rows = (
                    select(table.c.id)
                    .where(seen, starts)
                    .limit(_literal(MOST_FOUND + 1))
                    .subquery("starting")
                )
                found.append(select(func.substr(rows.c.id, 1, PREFIX, type_=Text()).label("prefix")))
            return found

        return find

    def _has_part(self, form: _Form, places: Sequence[Any]) -> Callable[[Any], ColumnElement[bool]]:
        """Makes the condition on the columns of these names, by default the columns themselves."""
        of_fold = dict(zip(self._all_folds, form.chosen, strict=True))

        def holds(columns: Any) -> ColumnElement[bool]:
            return or_(
                *(
                    HasPart(column if columns is None else columns[column.name], places[spelling])
                    for column, folds in self.folds.items()
                    for spelling in dict.fromkeys(of_fold[fold] for fold in folds)
                )
            )

        return holds

    def _starts(self, places: Sequence[Any]) -> list[ColumnElement[bool]]:
        # A range, which a unique index has. On SQLite, LIKE would ignore the case.
        return [] if self.start is None else [and_(self.start >= places[-3], self.start < places[-2])]


@dataclass(frozen=True)
class Found:
    """How SQLite finds the rows of a search: `rows` to select from, if they `are_few`."""

    rows: FromClause
    are_few: ColumnElement[bool]


def find(table: FromClause, prefixes: Sequence[Select[str]]) -> Found:
    """The rows of a table whose ids begin with one of the prefixes."""
    found = union(*prefixes).cte("found")
    first, last = (found.c.prefix + digit * PREFIX for digit in "0f")
    are_few = select(func.count()).select_from(found).scalar_subquery() <= _literal(MOST_FOUND)
    id = type_coerce(table.c.id, Text())
    return Found(InThisOrder(found, table, and_(id >= first, id <= last)), are_few)


def _literal(number: int) -> ColumnElement[int]:
    return literal_column(str(number))


def _end_of(start: str) -> str:
    """A text after all that begin with `start`, and before all others after it, by code points."""
    kept = start.rstrip(_LAST)
    if not kept:
        return _LAST * _LONGER
    following = ord(kept[-1]) + 1
    return kept[:-1] + chr(_AFTER_HALVES if following == _HALVES else following)
