"""The failure that callers get for an error which no operation foresees."""

import structlog

from schema.errors import AnswerTooLarge, Failure, Internal, TooComplex, Unavailable
from storage.dialects.json_rows import LONGEST_INSIDE, InsideTooLong, LinesTooLong, NestedTooDeep
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.outages import is_outage

log = structlog.get_logger()

RETRY_AFTER_SECONDS = 1
# A move to another database takes minutes.
RETRY_AFTER_MOVE_SECONDS = 60


def unforeseen(error: BaseException, request_id: str) -> Failure:
    """`Unavailable` if the database cannot work now, `AnswerTooLarge` if it has too much to answer,
    `TooComplex` if the links go too deep for it, otherwise `Internal`.

    An outage is logged without its stack: it concerns every request, and the place says nothing.
    """
    if isinstance(error, ChangesRefused):
        return refused_change(error)
    if isinstance(error, InsideTooLong):
        return AnswerTooLarge("What is inside one object of the answer", LONGEST_INSIDE)
    if isinstance(error, LinesTooLong):
        return AnswerTooLarge()
    if isinstance(error, NestedTooDeep):
        return TooComplex("The links go too deep for one statement of SQLite: ask for fewer levels at once.")
    if not is_outage(error):
        return Internal(request_id)
    driver = getattr(error, "orig", None) or error
    log.warning(
        "the database is unavailable",
        error=type(driver).__name__,
        state=getattr(driver, "sqlstate", None) or getattr(driver, "sqlite_errorname", None),
    )
    headers = {"Retry-After": str(RETRY_AFTER_SECONDS)}
    return Unavailable("The database is not available now. Send the request again in a moment.", headers)


def refused_change(refused: ChangesRefused) -> Unavailable:
    """What callers are told about a change that the database refuses, whatever it is."""
    return Unavailable(str(refused), {"Retry-After": str(RETRY_AFTER_MOVE_SECONDS)})
