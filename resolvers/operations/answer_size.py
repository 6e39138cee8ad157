"""How large an answer may be, and what its bytes cost: what is read, written and sent for it is counted."""

from typing import Any

import orjson

from resolvers.operations.context import Caller
from schema.errors import LARGEST_ANSWER, AnswerTooLarge
from storage.dialects.json_rows import parsed

# The rows of one request together, in bytes, however little of them it selects.
MOST_READ = 2 * LARGEST_ANSWER
FREE_BYTES = 1024 * 1024
BYTES_PER_CALL = 256 * 1024
# A character of a text has at most so many bytes in JSON, as `\\u0001`.
LONGEST_ESCAPE = 6
# The data, a field of the root, the list of a page, and an object of it, which is written at once.
DEEPEST_PARTS = 3


def calls_for_bytes(size: int) -> int:
    """What an answer of so many bytes costs in calls, beyond what its request cost before it was read."""
    return max(0, -(-(size - FREE_BYTES) // BYTES_PER_CALL))


def read_lines(caller: Caller, text: str) -> list[Any]:
    """The lines in the text of a statement. Raises `AnswerTooLarge` and `LinesTooLong`."""
    caller.bytes_read += len(text)
    if caller.bytes_read > MOST_READ:
        raise AnswerTooLarge
    return parsed(text)


def counted(caller: Caller, value: Any) -> orjson.Fragment:
    """A part of the answer as JSON, whose bytes are counted. Raises `AnswerTooLarge`."""
    written = orjson.dumps(value)
    caller.bytes_written += len(written)
    if caller.bytes_written > LARGEST_ANSWER:
        raise AnswerTooLarge
    return orjson.Fragment(written)


def dumped(caller: Caller, answer: dict[str, Any]) -> bytes:
    """The answer as JSON. Raises `AnswerTooLarge`.

    One that may have too many bytes, as those that were counted say, is written part by part.
    """
    if caller.bytes_written * LONGEST_ESCAPE > LARGEST_ANSWER:
        caller.bytes_written = 0
        answer = {name: _in_parts(caller, value, DEEPEST_PARTS) for name, value in answer.items()}
    return orjson.dumps(answer)


def _in_parts(caller: Caller, value: Any, depth: int) -> Any:
    if depth and isinstance(value, dict):
        return {name: _in_parts(caller, part, depth - 1) for name, part in value.items()}
    if depth and isinstance(value, list):
        return [_in_parts(caller, part, depth - 1) for part in value]
    return counted(caller, value)
