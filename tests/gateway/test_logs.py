"""Log lines: exceptions without what their messages repeat, libraries' messages without what they fill in."""

import json
import logging
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import structlog
from pydantic import BaseModel

from gateway.logs.logs import configure_logs
from gateway.logs.stack_traces import stack_of

SECRET = "hush-4711"

Lines = Callable[[], list[dict[str, Any]]]


class Person(BaseModel):
    age: int


def fail_by_key() -> None:
    {}[SECRET]


def fail_by_input() -> None:
    Person.model_validate({"age": SECRET})


def fail_by_constraint() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE people (email TEXT UNIQUE)")
    connection.execute(
        f"CREATE TRIGGER never BEFORE INSERT ON people BEGIN SELECT RAISE(ABORT, '{SECRET}'); END"
    )
    connection.execute("INSERT INTO people VALUES ('a')")


def fail_by_cause() -> None:
    try:
        fail_by_key()
    except KeyError as error:
        raise RuntimeError(SECRET) from error


def fail_meanwhile() -> None:
    try:
        fail_by_key()
    except KeyError:
        int(SECRET)


def fail_in_a_group() -> None:
    raise ExceptionGroup(SECRET, [ValueError(SECRET), TypeError(SECRET)])


def fail_with_a_note() -> None:
    error = ValueError()
    error.add_note(SECRET)
    raise error


@pytest.fixture
def lines(own_logs: None, capfd: pytest.CaptureFixture[str]) -> Any:
    """What was logged; a test that asks for it configures the logs."""
    return lambda: [json.loads(line) for line in capfd.readouterr().err.splitlines()]


@pytest.mark.parametrize(
    ("fail", "named"),
    [
        (fail_by_key, ["builtins.KeyError"]),
        (fail_by_input, ["pydantic_core._pydantic_core.ValidationError"]),
        (fail_by_constraint, ["sqlite3.IntegrityError (sqlite_errorname=SQLITE_CONSTRAINT_TRIGGER)"]),
        (fail_by_cause, ["builtins.KeyError", "which caused:", "builtins.RuntimeError"]),
        (fail_meanwhile, ["builtins.KeyError", "while that was handled:", "builtins.ValueError"]),
        (fail_in_a_group, ["builtins.ExceptionGroup", "  | builtins.ValueError", "  | builtins.TypeError"]),
        (fail_with_a_note, ["builtins.ValueError"]),
    ],
)
@pytest.mark.parametrize("log_format", ["json", "console"])
def test_an_exception_is_logged_with_its_stack_and_without_its_message(
    own_logs: None,
    fail: Callable[[], None],
    named: list[str],
    log_format: str,
    capfd: pytest.CaptureFixture[str],
) -> None:
    configure_logs(log_format, "info")
    try:
        fail()
    except Exception as error:
        logging.getLogger("gateway.somewhere").exception("unforeseen")
        stack = stack_of(error)
    places = [stack.index(name) for name in named]
    assert places == sorted(places)
    assert f"in {fail.__name__}" in stack
    said = capfd.readouterr().err
    assert named[-1] in said
    assert SECRET not in said


def test_a_library_s_message_is_written_as_its_source_has_it(lines: Lines) -> None:
    configure_logs("json", "debug")
    library = logging.getLogger("some.library")
    library.warning("Header %s was refused", SECRET)
    library.debug("Row %r", (SECRET,))
    library.error(f"{SECRET} was refused")
    library.error(ValueError(SECRET))
    library.info("Started", extra={"header": SECRET})
    library.warning("%s", SECRET, exc_info=ValueError(SECRET))
    logged = lines()
    assert [line["event"] for line in logged] == [
        "Header %s was refused",
        "Row %r",
        "a message that is not in the source",
        "a message that is not in the source",
        "Started",
        "%s",
    ]
    assert {line["logger"] for line in logged} == {"some.library"}
    assert logged[-1]["exception"] == "builtins.ValueError"
    assert SECRET not in json.dumps(logged)


def test_a_statement_is_logged_without_its_values_and_no_row_is(lines: Lines) -> None:
    configure_logs("json", "debug")
    statements = logging.getLogger("sqlalchemy.engine.Engine")
    statement = "SELECT " + "name"
    statements.info(statement)
    statements.info("[%s] %r", "cached", (SECRET,))
    statements.debug("Row %r", (SECRET,))
    assert [line["event"] for line in lines()] == ["SELECT name", "[%s] %r"]


@pytest.mark.parametrize(
    ("level", "kept"),
    [
        ("debug", ["own debug", "own info", "own warning", "debug", "info", "warning"]),
        ("info", ["own info", "own warning", "warning"]),
        ("warning", ["own warning", "warning"]),
        ("error", []),
    ],
)
def test_a_level_says_how_much_is_logged(level: str, kept: list[str], lines: Lines) -> None:
    configure_logs("json", level)
    own, library = structlog.get_logger(), logging.getLogger("some.library")
    own.debug("own debug")
    own.info("own info")
    own.warning("own warning")
    library.debug("debug")
    library.info("info")
    library.warning("warning")
    assert [line["event"] for line in lines()] == kept


DYING = """
import asyncio, gc, threading, warnings
from gateway.logs.logs import configure_logs, take_over_process
configure_logs("json", "info")
take_over_process()
secret = "-".join(["hush", "4711"])
def fail():
    raise ValueError(secret)
thread = threading.Thread(target=fail)
thread.start()
thread.join()
warnings.warn("it was " + secret, RuntimeWarning)
class Lost:
    def __del__(self):
        raise ValueError(secret)
lost = Lost()
del lost
async def leave():
    task = asyncio.ensure_future(asyncio.to_thread(fail))
    await asyncio.wait([task])
    del task
    gc.collect()
asyncio.run(leave())
fail()
"""


def test_what_a_dying_process_says_is_logged_without_values_too() -> None:
    done = subprocess.run([sys.executable, "-c", DYING], capture_output=True, text=True, check=False)
    logged = [json.loads(line) for line in done.stderr.splitlines()]
    assert [line["event"] for line in logged] == [
        "a thread failed",
        "python warning",
        "an exception was lost",
        "a message that is not in the source",
        "the process ends",
    ]
    assert logged[1]["category"] == "RuntimeWarning"
    assert all("builtins.ValueError" in line["exception"] for line in logged if "exception" in line)
    assert SECRET not in done.stderr


LOGS_ON_A_FULL_DISK = """
import logging
import structlog
from gateway.logs.logs import configure_logs
from gateway.logs.request_lines import RequestLine, request_lines

configure_logs("json", "info")
request_lines._collected.append(RequestLine(0, "GET", "/", 200, 1, "a"))
structlog.get_logger().warning("something happened")
logging.getLogger("library").warning("something happened")
request_lines._collected.append(RequestLine(0, "GET", "/", 200, 1, "b"))
request_lines.flush()
print("went on")
"""


def test_a_full_disk_fails_nothing_that_is_logged() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", LOGS_ON_A_FULL_DISK], stdout=subprocess.PIPE, stderr=full, check=False
        )
    assert done.stdout == b"went on\n"
