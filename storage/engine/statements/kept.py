"""Kept statements: compiled once from SQLAlchemy's expressions, and run by the driver ever after.

Building a statement, looking up its compiled form and adapting its rows takes SQLAlchemy twenty times as
long as the driver needs to run it. A kept statement has places (`bindparam`) for each request's values.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import count
from typing import Any, Self

from sqlalchemy import Executable, Select
from sqlalchemy.engine import Dialect

from storage.dialects.json_rows import has_written_lines
from storage.dialects.parts import depends_on_values
from storage.dialects.processors import from_driver, to_driver

_numbers = count()
_PLACE = re.compile(r"\$(\d+)")


def with_places(text: str, places: Sequence[int]) -> str:
    """The text of PostgreSQL with other numbers, counted from 0, of its places."""
    return _PLACE.sub(lambda place: f"${places[int(place[1]) - 1] + 1}", text)


class KeptText:
    """A kept statement as one database takes it.

    `depends_on_values`: what makes it fast depends on the values (`storage/dialects/parts.py`). With
    `is_united` it has the rows of several statements.
    """

    def __init__(self, statement: Executable, dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})  # type: ignore[attr-defined]
        self.text: str = compiled.string
        self.depends_on_values = depends_on_values(compiled)
        # Whether it reads lines: then SQLite's connection bounds their text, and some errors mean them.
        self.reads_lines: bool = getattr(compiled, "reads_lines", False)
        names: Sequence[str] = compiled.positiontup or ()
        self._names = list(names)
        self._constants = [compiled.params[name] for name in names]
        self._converters = [
            (index, convert)
            for index, name in enumerate(names)
            if name in compiled.binds and (convert := to_driver(compiled.binds[name].type, dialect))
        ]
        # A text has no columns of known types.
        columns = getattr(statement, "exported_columns", ())
        self._readers = [from_driver(column.type, dialect) for column in columns]
        self.places, self.columns = len(names), len(self._readers)
        self.is_united = False
        self.is_one_row = isinstance(statement, Select) and (
            has_written_lines(statement)
            # A SELECT of values, like those of subqueries.
            or (not statement.columns_clause_froms and statement.whereclause is None)
        )

    @classmethod
    def united(cls, parts: Sequence["KeptText"], dialect: Dialect) -> Self:
        """One statement with the rows of all parts by UNION ALL. Places of the same name have one value.

        Drivers return its rows as they do those of the first part.
        """
        whole, are_numbered = cls.__new__(cls), dialect.name == "postgresql"
        whole._names, whole._constants, whole._converters, texts = [], [], [], []
        for part in parts:
            places: list[int] = []
            converters = dict(part._converters)
            for index, (name, constant) in enumerate(zip(part._names, part._constants, strict=True)):
                if are_numbered and constant is None and name in whole._names:
                    places.append(whole._names.index(name))
                    continue
                places.append(len(whole._names))
                if index in converters:
                    whole._converters.append((len(whole._names), converters[index]))
                # A constant may have the name of another part's.
                whole._names.append(name if constant is None else "")
                whole._constants.append(constant)
            texts.append(with_places(part.text, places) if are_numbered else part.text)
        whole.text = " UNION ALL ".join(texts)
        whole.depends_on_values, whole.reads_lines, whole.is_one_row = False, False, False
        whole.is_united = True
        whole._readers = parts[0]._readers
        whole.places, whole.columns = len(whole._names), parts[0].columns
        return whole

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        """The values in the order of the places; places without a value have the declaration's own."""
        arguments = list(map(values.get, self._names, self._constants))
        for index, convert in self._converters:
            arguments[index] = convert(arguments[index])
        return arguments

    def arguments_of_rows(self, rows: Sequence[Sequence[Any]]) -> list[tuple[Any, ...]]:
        """The arguments of several runs, from values that are in the order of the places already."""
        columns: list[Iterable[Any]] = list(zip(*rows, strict=True))
        for index, convert in self._converters:
            columns[index] = map(convert, columns[index])
        return list(zip(*columns, strict=True))

    def converted(self, rows: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The driver's rows with the values that the types of the columns make of them."""
        if not any(self._readers):
            return [tuple(row) for row in rows]
        return [
            tuple(
                value if reader is None else reader(value)
                for reader, value in zip(self._readers, row, strict=True)
            )
            for row in rows
        ]


class Kept:
    """A statement with places for values. It is compiled at its first use, once for each database.

    With a `dialect` it is compiled at once, for that database only, and its expressions are dropped: they
    take ten times the memory of the text.
    """

    __slots__ = ("_statement", "_texts", "number")

    def __init__(self, statement: Executable, dialect: Dialect | None = None) -> None:
        # Unlike its address, no later statement of the process has it.
        self.number = next(_numbers)
        self._statement: Executable | None = statement if dialect is None else None
        self._texts: dict[str, KeptText] = {}
        if dialect is not None:
            self._texts[dialect.name] = KeptText(statement, dialect)

    @classmethod
    def of_text(cls, written: KeptText, dialect: Dialect) -> Self:
        """A statement that is compiled for this database only."""
        kept = cls.__new__(cls)
        kept.number, kept._statement, kept._texts = next(_numbers), None, {dialect.name: written}
        return kept

    def on(self, dialect: Dialect) -> KeptText:
        """The statement as this database takes it. Raises `LookupError` if it was compiled for another."""
        written = self._texts.get(dialect.name)
        if written is None:
            if self._statement is None:
                raise LookupError(f"This statement was not compiled for {dialect.name}.")
            written = self._texts[dialect.name] = KeptText(self._statement, dialect)
        return written
