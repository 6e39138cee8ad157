"""The ways in which a request can fail.

Failure
├── Unauthorized          401  no credential
├── InvalidToken          401  unknown, expired or revoked credential
├── InvalidCode           401  wrong, used or expired code
├── InsufficientScope     403  the credential lacks the scope
├── NotPermitted          403  forbidden by a rule, or the wrong kind of credential
├── ReauthenticationRequired  403  the browser session's sign-in is too old
├── NotFound              404  absent, or not visible to the caller
├── PersistedQueryNotFound 200  GraphQL: the document of a hash is not known
├── DocumentNotRegistered 403  GraphQL: the OAuth client has not registered the document
├── MethodNotAllowed      405
├── IdempotencyConflict   409  another request used the key
├── Gone                  410  the changes after a position are no longer kept
├── PreconditionFailed    412  If-Match is stale
├── TooLarge              413
├── UnsupportedMediaType  415
├── Invalid               422  invalid input, or a broken rule
│   └── AnswerTooLarge    422  the answer would have too many bytes
├── TooComplex            422  a GraphQL document over the limits
├── RateLimited           429
├── Internal              500  an unexpected error
└── Unavailable           503  a service that we depend on is down
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
# In bytes.
LARGEST_ANSWER = 16 * 1024 * 1024
SECRETS = frozenset({"code"})


class Failure(Exception):
    """The base of the failures, one class per outcome. Both surfaces render `code`, `detail` and `status`."""

    status: ClassVar[HTTPStatus]
    code: ClassVar[str]

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        cls.code = code or "".join("_" * c.isupper() + c.lower() for c in cls.__name__).lstrip("_")

    def __init__(self, detail: str | list[Problem], headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail if isinstance(detail, str) else "The input is not valid.")
        self.detail = detail
        self.headers = dict(headers or {})

    @property
    def message(self) -> str:
        """The `message` of a GraphQL error: the detail, or the first problem's own sentence."""
        return self.detail if isinstance(self.detail, str) else str(self.detail[0]["msg"])

    @property
    def extensions(self) -> dict[str, Any]:
        """The `extensions` of a GraphQL error."""
        return {"code": self.code, "detail": self.detail, "status": int(self.status)}

    @property
    def body(self) -> dict[str, Any]:
        return {"error": self.code, "detail": self.detail}


class Unauthorized(Failure):
    """The request has no credential, and the operation needs one."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self, detail: str = "Send a credential: `Authorization: Bearer <token>`.") -> None:
        super().__init__(detail, {"WWW-Authenticate": REALM})


class InvalidToken(Failure):
    """The credential is unknown, expired or revoked."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self, detail: str = "The credential is unknown, expired or revoked.") -> None:
        super().__init__(detail, {"WWW-Authenticate": f'{REALM}, error="invalid_token"'})


class InvalidCode(Failure):
    """The code is wrong, used or expired, or there were too many attempts; the answer does not say which."""

    status = HTTPStatus.UNAUTHORIZED

    def __init__(self) -> None:
        super().__init__(
            "The code is wrong, used or expired. Request a new one.", {"WWW-Authenticate": REALM}
        )


class InsufficientScope(Failure):
    """The credential lacks the scope that the operation needs; the header lists the sufficient scopes."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self, scopes: Iterable[str]) -> None:
        sufficient = list(scopes)
        super().__init__(
            f"The credential needs the scope {' or '.join(f'`{scope}`' for scope in sufficient)}.",
            {"WWW-Authenticate": f'{REALM}, error="insufficient_scope", scope="{" ".join(sufficient)}"'},
        )


class NotPermitted(Failure):
    """A permission rule forbids the operation, or it does not accept this kind of credential."""

    status = HTTPStatus.FORBIDDEN


class ReauthenticationRequired(Failure):
    """The operation needs a sign-in within the last hour, and the browser session's is older."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self) -> None:
        super().__init__(
            "Your last sign-in is more than an hour ago. "
            "Enter your password at /confirm-password, then repeat the request."
        )


class NotFound(Failure):
    """The resource does not exist, or the caller has no access to it."""

    status = HTTPStatus.NOT_FOUND


class PersistedQueryNotFound(Failure):
    """GraphQL: no document is known for the hash. Send the document with its hash, once."""

    # Clients that send hashes take other statuses for a failure of the network.
    status = HTTPStatus.OK

    def __init__(self) -> None:
        # They know the error by this message.
        super().__init__("PersistedQueryNotFound")


class DocumentNotRegistered(Failure):
    """GraphQL: the OAuth client may send registered documents only, and this one is not."""

    status = HTTPStatus.FORBIDDEN

    def __init__(self) -> None:
        super().__init__(
            "The application may send registered documents only, and this is none of them. "
            "An owner of the application can register it."
        )


class MethodNotAllowed(Failure):
    """The path does not support this method; the header `Allow` lists the methods that it supports."""

    status = HTTPStatus.METHOD_NOT_ALLOWED


class IdempotencyConflict(Failure):
    """The `Idempotency-Key` was used with other parameters, or its first request is still running."""

    status = HTTPStatus.CONFLICT


class Gone(Failure):
    """The changes after this position are not kept: read the lists again, and go on as `detail` says."""

    status = HTTPStatus.GONE


class PreconditionFailed(Failure):
    """`If-Match` is stale: the resource has changed since it was read."""

    status = HTTPStatus.PRECONDITION_FAILED


class TooLarge(Failure):
    """The body exceeds the size limit."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class UnsupportedMediaType(Failure):
    """The body has another media type than the path accepts, or is compressed."""

    status = HTTPStatus.UNSUPPORTED_MEDIA_TYPE


class Invalid(Failure):
    """Invalid input, or a broken rule. The first 100 problems are listed; `more` counts the others.

    A `loc` begins with the resolver's parameter; each surface replaces that by its own place.
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


class AnswerTooLarge(Invalid, code="invalid"):
    """The answer, or `what` of it, would have more bytes than it may have: some MiB."""

    def __init__(self, what: str = "The answer", most: int = LARGEST_ANSWER) -> None:
        message = (
            f"{what} would have more than {most // 2**20} MiB: ask for less at once, by a "
            "smaller `limit`, a shorter range or, in GraphQL, fewer fields and aliases"
        )
        super().__init__([problem((), message, "answer_too_large")])


class TooComplex(Failure):
    """A GraphQL document exceeds a limit; the detail has the limit and the document's value."""

    status = HTTPStatus.UNPROCESSABLE_ENTITY


class RateLimited(Failure):
    """Too many requests. `Retry-After` is the number of seconds to wait."""

    status = HTTPStatus.TOO_MANY_REQUESTS


class Internal(Failure):
    """An unexpected error; the log has its cause under the request id in the answer."""

    status = HTTPStatus.INTERNAL_SERVER_ERROR

    def __init__(self, request_id: str) -> None:
        super().__init__(f"An unexpected error occurred. Report it with the request id {request_id}.")


class Unavailable(Failure):
    """A service that the operation depends on is down. `Retry-After` is the number of seconds to wait."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


def problem(loc: Location, msg: str, type: str = "value_error", **extra: Any) -> Problem:
    """One entry of an `Invalid`. `input` is the value that was sent.

    Secrets, containers and long texts are not repeated. Callers choose the names of unknown fields, and
    messages quote them, so both are cut to a readable length.
    """
    places = [shortened(part, LONGEST_NAME) if isinstance(part, str) else part for part in loc]
    entry: Problem = {"loc": places, "msg": shortened(msg, LONGEST_MESSAGE), "type": type}
    is_secret = bool(SECRETS.intersection(loc))
    if "input" in extra and not is_secret and _may_be_repeated(extra["input"]):
        entry["input"] = extra["input"]
    return entry


def shortened(text: str, length: int) -> str:
    """The text, or its beginning with an ellipsis if it has more than `length` characters."""
    return text if len(text) <= length else f"{text[: length - 1]}…"


def _may_be_repeated(value: Any) -> bool:
    if isinstance(value, float):
        return isfinite(value)
    if isinstance(value, str):
        return len(value) <= LONGEST_INPUT
    if isinstance(value, int):
        return value.bit_length() <= 64
    return value is None
