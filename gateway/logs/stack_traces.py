"""The form in which an exception is logged: its stack and its type, never the values in its message.

Messages repeat what a client sent: PostgreSQL's DETAIL has the row, Pydantic's the input, a KeyError the key.
"""

import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import TypeAlias

ExcInfo: TypeAlias = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]

CAUSED = "which caused"
MEANWHILE = "while that was handled"
# Attributes of errors of drivers and of the operating system without values: codes, and names in our schema.
CODES = ("sqlstate", "constraint_name", "table_name", "column_name", "sqlite_errorname", "errno")


def stack_of(error: BaseException) -> str:
    """The stacks of the exception and of those that led to it, oldest first, in Python's format.

    Each ends with the exception's class and its `CODES`. Source lines are kept: they contain no values.
    """
    return "\n".join(_lines_of(error))


def exception_of(exc_info: object) -> BaseException | None:
    """The exception in a log record's `exc_info`, which is an exception or a triple that contains one."""
    error = exc_info[1] if isinstance(exc_info, tuple) else exc_info
    return error if isinstance(error, BaseException) else None


def _lines_of(error: BaseException) -> Iterator[str]:
    for each, link in _chain_of(error):
        frames = traceback.StackSummary.extract(traceback.walk_tb(each.__traceback__))
        yield from "".join(frames.format()).splitlines()
        yield _name_of(each)
        if isinstance(each, BaseExceptionGroup):
            for part in each.exceptions:
                yield from (f"  | {line}" for line in _lines_of(part))
        if link:
            yield f"{link}:"


def _chain_of(error: BaseException) -> list[tuple[BaseException, str]]:
    """The exceptions, oldest first, each with its relation to the next one."""
    chain: list[tuple[BaseException, str]] = []
    seen: set[int] = set()
    current: BaseException | None = error
    link = ""
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        chain.append((current, link))
        link = CAUSED if current.__cause__ is not None else MEANWHILE
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return chain[::-1]


def _name_of(error: BaseException) -> str:
    kind = type(error)
    codes = [f"{name}={value}" for name in CODES if (value := getattr(error, name, None)) is not None]
    return f"{kind.__module__}.{kind.__qualname__}" + (f" ({', '.join(codes)})" if codes else "")
