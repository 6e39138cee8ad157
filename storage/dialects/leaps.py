"""The different values of a column, found by leaping from one to the next in an index."""

from typing import Any

from sqlalchemy import Column, ColumnElement, Select, select


def values_of(column: Column[Any], *where: ColumnElement[bool]) -> Select[Any]:
    """The values of the column in the rows that meet the conditions, which begin an index with the column."""

    def first(*further: ColumnElement[bool]) -> Select[Any]:
        return select(column).where(*where, *further).order_by(column).limit(1)

    values = select(first(column.is_not(None)).scalar_subquery().label("value")).cte("leaps", recursive=True)
    following = first(column > values.c.value).scalar_subquery()
    values = values.union_all(select(following).where(values.c.value.is_not(None)))
    return select(values.c.value).where(values.c.value.is_not(None))
