"""Kept statements: compiled once from SQLAlchemy's expressions, and run by the driver ever after.

Building a statement, looking up its compiled form and adapting its rows takes SQLAlchemy twenty times as
long as the driver needs to run it. A kept statement has places (`bindparam`) for each request's values.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import Executable
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler

Processor = Callable[[Any], Any]


class KeptText:
    """A kept statement as one database takes it."""

    def __init__(self, statement: Executable, dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect, compile_kwargs={"render_postcompile": True})  # type: ignore[attr-defined]
        self.text: str = compiled.string
        self._names: Sequence[str] = compiled.positiontup or ()
        self._constants: Mapping[str, Any] = compiled.params
        self._converters = {
            name: processor
            for name, processor in compiled._bind_processors.items()
            if not isinstance(processor, tuple)
        }
        self._readers = _readers(compiled, dialect)

    def arguments(self, values: Mapping[str, Any]) -> list[Any]:
        """The values in the order of the places; places without a value have the declaration's own."""
        arguments = []
        for name in self._names:
            value = values[name] if name in values else self._constants[name]
            converter = self._converters.get(name)
            arguments.append(value if converter is None else converter(value))
        return arguments

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
    """A statement with places for values. It is compiled at its first use, once for each database."""

    __slots__ = ("_statement", "_texts")

    def __init__(self, statement: Executable) -> None:
        self._statement = statement
        self._texts: dict[str, KeptText] = {}

    def on(self, dialect: Dialect) -> KeptText:
        written = self._texts.get(dialect.name)
        if written is None:
            written = self._texts[dialect.name] = KeptText(self._statement, dialect)
        return written


def _readers(compiled: SQLCompiler, dialect: Dialect) -> list[Processor | None]:
    columns: Sequence[Any] = compiled._result_columns
    return [column.type._cached_result_processor(dialect, None) for column in columns]
