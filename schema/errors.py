"""Every way a request can fail that its caller can do something about.

Failure
├── Unauthorized          401  no credential
├── InvalidToken          401  unknown, expired or revoked credential
├── InvalidCode           401  a wrong, used or expired code
├── InsufficientScope     403  the credential was not granted what this needs
├── NotPermitted          403  a rule of permission, or the wrong kind of credential
├── ReauthenticationRequired  403  the browser session's sign-in is too old
├── NotFound              404  absent, or not visible to the caller
├── MethodNotAllowed      405
├── IdempotencyConflict   409  the key is taken by another request
├── PreconditionFailed    412  If-Match is stale
├── TooLarge              413
├── Invalid               422  bad input, or a broken rule
├── TooComplex            422  a GraphQL document that could never fit the limits
├── RateLimited           429
├── Internal              500  what nobody foresaw
└── Unavailable           503  a part we depend on is down
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from itertools import islice
from math import isfinite
from typing import Any, ClassVar

Problem = dict[str, Any]
Location = tuple[str | int, ...]

REALM = 'Bearer realm="duograph"'
LONGEST_INPUT = 200
LONGEST_NAME = 100
LONGEST_MESSAGE = 1_000
MOST_PROBLEMS = 100
SECRETS = frozenset({"code"})


class Failure(Exception):
    """One class per outcome; both surfaces render `code`, `detail` and `status`."""

    status: ClassVar[HTTPStatus]
    code: ClassVar[str]

    def __init_subclass__(cls) -> None:
        cls.code = "".join("_" * c.isupper() + c.lower() for c in cls.__name__).lstrip("_")

    def __init__(self, detail: str | list[Problem], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail if isinstance(detail, str) else "The input is not valid.")
        self.detail = detail
        self.headers = dict(headers or {})

    @property
    def extensions(self) -> dict[str, Any]:
        """What graphql-core puts beside the error."""
        return {"code": self.code, "detail": self.detail, "status": int(self.status)}

    @property
    def body(self) -> dict[str, Any]:
        return {"error": self.code, "detail": self.detail}


class Unauthorized(Failure):
    """No credential came with the request, and this needs one."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(
        self, detail: str = "This needs a credential: send `Authorization: Bearer <token>`."
    ) -> None:
        super().__init__(detail, {"WWW-Authenticate": REALM})


class InvalidToken(Failure):
    """The credential is unknown, expired or revoked."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self, detail: str = "The credential is unknown, expired or revoked.") -> None:
        super().__init__(detail, {"WWW-Authenticate": f'{REALM}, error="invalid_token"'})


class InvalidCode(Failure):
    """The code is wrong, used or expired, or there were too many tries; which of these is not said."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self) -> None:
        super().__init__(
            "The code is wrong, used or expired: ask for another one.", {"WWW-Authenticate": REALM}
        )


class InsufficientScope(Failure):
    """The credential was not granted a scope that this needs; the header names those that would do."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self, scopes: Iterable[str]) -> None:
        wanted = list(scopes)
        super().__init__(
            f"This needs the scope {' or '.join(f'`{scope}`' for scope in wanted)}.",
            {"WWW-Authenticate": f'{REALM}, error="insufficient_scope", scope="{" ".join(wanted)}"'},
        )


class NotPermitted(Failure):
    """A rule of permission forbids it, or it does not take this kind of credential."""

    status = HTTPStatus.FORBIDDEN


class ReauthenticationRequired(Failure):
    """The browser session's user last entered the password more than an hour ago, and this needs it again."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self) -> None:
        super().__init__(
            "This needs a sign-in within the last hour. "
            "Enter your password at /confirm-password, then repeat the request."
        )


class NotFound(Failure):
    """No such thing, or none that this caller may know of."""

    status = HTTPStatus.NOT_FOUND


class MethodNotAllowed(Failure):
    """The path does not take this method; the header `Allow` names those it takes."""

    status = HTTPStatus.METHOD_NOT_ALLOWED


class IdempotencyConflict(Failure):
    """The Idempotency-Key was used with other parameters, or its first request is still running."""

    status = HTTPStatus.CONFLICT


class PreconditionFailed(Failure):
    """`If-Match` is stale: the resource has changed since it was read."""

    status = HTTPStatus.PRECONDITION_FAILED


class TooLarge(Failure):
    """The body is over the limit."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class Invalid(Failure):
    """Bad input, or a broken rule; the first 100 problems are listed, and `more` counts the others.

    A `loc` begins with the resolver's parameter until a surface renders it.
    """

    status = HTTPStatus.UNPROCESSABLE_ENTITY

    def __init__(self, problems: Iterable[Problem], more: int = 0) -> None:
        every = iter(problems)
        super().__init__(list(islice(every, MOST_PROBLEMS)))
        self.more = more + sum(1 for _ in every)

    @property
    def extensions(self) -> dict[str, Any]:
        return super().extensions | self._count

    @property
    def body(self) -> dict[str, Any]:
        return super().body | self._count

    @property
    def _count(self) -> dict[str, int]:
        return {"more": self.more} if self.more else {}

    @property
    def problems(self) -> list[Problem]:
        return self.detail if isinstance(self.detail, list) else []


class TooComplex(Failure):
    """A GraphQL document that could never fit the limits; it says the limit and the value."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY


class RateLimited(Failure):
    """Too many requests; `Retry-After` says when to come back, in seconds."""

    status = HTTPStatus.TOO_MANY_REQUESTS


class Internal(Failure):
    """Nobody foresaw it; the cause is in the log, under the request id that the caller is told."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR

    def __init__(self, request_id: str) -> None:
        super().__init__(f"Something went wrong on our side; the request id is {request_id}.")


class Unavailable(Failure):
    """A part that this depends on is down; `Retry-After` says when to try again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


def problem(loc: Location, msg: str, type: str = "value_error", **given: Any) -> Problem:
    """One entry of an `Invalid`; `input` is what was sent, left out where it should not be repeated.

    Callers choose the names of unknown fields, and messages quote them: both are cut to a readable length.
    """
    places = [shortened(part, LONGEST_NAME) if isinstance(part, str) else part for part in loc]
    entry: Problem = {"loc": places, "msg": shortened(msg, LONGEST_MESSAGE), "type": type}
    is_secret = bool(SECRETS.intersection(loc))
    if "input" in given and not is_secret and _may_be_repeated(given["input"]):
        entry["input"] = given["input"]
    return entry


def shortened(text: str, length: int) -> str:
    """The text, cut to `length` characters with an ellipsis as the last one."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _may_be_repeated(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, str):
        return len(value) <= LONGEST_INPUT
    if isinstance(value, int):
        return value.bit_length() <= 64
    return value is None
