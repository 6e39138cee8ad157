"""How large an answer may be, and what its bytes cost: what is read, written and sent for it is counted."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

import orjson

from resolvers.operations.context import Caller
from schema.errors import LARGEST_ANSWER, AnswerTooLarge
from storage.dialects.json_rows import lines_of

# The rows of one request together, in bytes, however little of them it selects.
MOST_READ = 2 * LARGEST_ANSWER
# How often lines are read for nodes, edges, their cursors, and one list more.
READ_FREELY = 4
FREE_BYTES = 1024 * 1024
BYTES_PER_CALL = 256 * 1024
# A character of a text has at most so many bytes in JSON, as `\\u0001`.
LONGEST_ESCAPE = 6
# The answer, the data, a field of the root, and the list of a page, whose objects are written one at a time.
DEEPEST_PARTS = 4
# Values without parts are written together. So many of the longest texts take less than an answer may.
_LEAVES = frozenset({str, int, float, bool, type(None)})
LEAVES_AT_A_TIME = 100


def calls_for_bytes(size: int) -> int:
    """What an answer of so many bytes costs in calls, beyond what its request cost before it was read."""
    return max(0, -(-(size - FREE_BYTES) // BYTES_PER_CALL))


def read_lines(caller: Caller, written: bytes | None) -> Sequence[Any]:
    """The lines in the bytes of a statement. Raises `AnswerTooLarge` and `LinesTooLong`.

    Long ones are parsed whenever they are read, and count again if that is often.
    """
    size = len(written or b"")
    unread = READ_FREELY * size
    _count_read(caller, size)

    def note(read: int) -> None:
        nonlocal unread
        unread -= read
        if unread < 0:
            _count_read(caller, read)

    return lines_of(written, note)


def _count_read(caller: Caller, size: int) -> None:
    caller.bytes_read += size
    if caller.bytes_read > MOST_READ:
        raise AnswerTooLarge


def counted(caller: Caller, value: Any) -> bytes:
    """A part of the answer as JSON, whose bytes are counted. Raises `AnswerTooLarge`."""
    written = orjson.dumps(value)
    caller.bytes_written += len(written)
    if caller.bytes_written > LARGEST_ANSWER:
        raise AnswerTooLarge
    return written


def dumped(caller: Caller, answer: dict[str, Any]) -> bytes:
    """The answer as JSON. Raises `AnswerTooLarge`.

    One that may have too many bytes, as those that were counted say, is written part by part.
    """
    if caller.bytes_written * LONGEST_ESCAPE <= LARGEST_ANSWER:
        return orjson.dumps(answer)
    # Its value is what was written, not a copy.
    written = BytesIO()
    _write(written, answer, DEEPEST_PARTS)
    return written.getvalue()


class JoinedItems(list[Any]):
    """The items of a list as JSON, with commas between them: for orjson a list of one fragment."""

    def __init__(self, joined: bytes) -> None:
        super().__init__([orjson.Fragment(joined)])
        self.joined = joined


def _write(written: BytesIO, value: Any, depth: int) -> None:
    """Add the value as JSON. Thousands of small parts take the memory of one, as none is kept. Raises
    `AnswerTooLarge`.
    """
    if isinstance(value, JoinedItems):
        written.writelines((b"[", value.joined, b"]"))
        return
    is_list = isinstance(value, list)
    if not (depth and value and (is_list or isinstance(value, dict))):
        _add(written, orjson.dumps(value))
        return
    if is_list and _LEAVES.issuperset(map(type, value)):
        for start in range(0, len(value), LEAVES_AT_A_TIME):
            written.write(b"," if start else b"[")
            _add(written, orjson.dumps(value[start : start + LEAVES_AT_A_TIME])[1:-1])
        written.write(b"]")
        return
    separator = b"[" if is_list else b"{"
    for each in value:
        written.write(separator)
        if not is_list:
            written.write(orjson.dumps(each) + b":")
        _write(written, each if is_list else value[each], depth - 1)
        separator = b","
    written.write(b"]" if is_list else b"}")


def _add(written: BytesIO, json: bytes) -> None:
    written.write(json)
    if written.tell() > LARGEST_ANSWER:
        raise AnswerTooLarge
