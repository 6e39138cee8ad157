"""How an exception is logged: where it came from and of what type it is, never the values in its message.

Messages repeat what was sent: PostgreSQL's DETAIL has the row, Pydantic's the input, a KeyError the key.
"""

import traceback
from collections.abc import Iterator
from types import TracebackType
from typing import TypeAlias

ExcInfo: TypeAlias = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]

CAUSED = "which caused"
MEANWHILE = "while that was handled"
# What drivers and the operating system say of a failure without a value: codes, and names in our schema.
CODES = ("sqlstate", "constraint_name", "table_name", "column_name", "sqlite_errorname", "errno")


def stack_of(error: BaseException) -> str:
    """The stacks of the exception and of those that led to it, oldest first, as Python words them.

    Each ends with the exception's class and its `CODES`. Lines of source code are kept: no value is in them.
    """
    return "\n".join(_lines_of(error))


def exception_of(given: object) -> BaseException | None:
    """What `exc_info` stands for in a log record: an exception or the triple with one in it."""
    if isinstance(given, tuple):
        given = given[1]
    return given if isinstance(given, BaseException) else None


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
    """Oldest first, each with how it is related to the next one."""
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
