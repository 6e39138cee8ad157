"""The audit log: sign-ins, refused access and what sensitive operations did, as lines with ids of ours only.

The request id leads to the line of the request. `counts` is what Prometheus is told of them.
"""

from collections import Counter
from collections.abc import Awaitable, Iterable, Mapping
from datetime import datetime
from enum import Enum
from functools import partial
from http import HTTPStatus
from typing import Any
from uuid import UUID

import structlog
from pydantic import BaseModel

from oauth.principals import Principal
from oauth.scopes import Scope
from resolvers.operations.context import Caller
from resolvers.operations.declaration import Operation
from resolvers.operations.shapes.shaped import ShapedRow
from schema.errors import Failure, InvalidCode
from schema.kit.base import Output, Resource, unwrapped

log = structlog.get_logger()

DONE, REFUSED, FAILED = "ok", "refused", "failed"
SIGN_IN, ACCESS, PASSWORD, CONSENT = "sign_in", "access", "password", "consent"
EXPORT, MALWARE = "export", "malware"

_SCOPES = frozenset(scope.value for scope in Scope)
_OF_ACCESS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})

# By event, which is one of the above or the name of an audited operation, and outcome, in this process.
counts: Counter[tuple[str, str]] = Counter()


def note_sign_in(user_id: UUID) -> None:
    _note("signed in", SIGN_IN, DONE, user=user_id)


def note_refusal(proof: str, user_id: UUID | None = None, *, workspace_id: UUID | None = None) -> None:
    """A wrong proof, or one that was not judged because too many were wrong: `proof` is its kind.

    Without the user, nobody has the address that was entered.
    """
    _note("sign-in refused", SIGN_IN, REFUSED, proof=proof, user=user_id, workspace=workspace_id)


def note_new_password(user_id: UUID) -> None:
    """The user has another password, by a link that was mailed."""
    _note("password changed", PASSWORD, DONE, user=user_id)


def note_consent(user_id: UUID, oauth_client_id: UUID, workspace_id: UUID | None) -> None:
    """The user lets the application in, to this workspace or to all of the user's own."""
    _note("access granted", CONSENT, DONE, user=user_id, oauth_client=oauth_client_id, workspace=workspace_id)


def note_export(caller: Caller) -> None:
    """A file with names of customers in it was made."""
    _note("exported", EXPORT, DONE, **_who(caller.recognized))


def note_malware(caller: Caller, workspace_id: UUID, file_id: UUID) -> None:
    """The scanner refused an uploaded file."""
    _note(
        "malware refused",
        MALWARE,
        REFUSED,
        **_who(caller.recognized) | {"workspace": workspace_id},
        file=file_id,
    )


def note_refusals(caller: Caller | None, failures: Iterable[Failure]) -> None:
    """Of the failures of an answer, those of a credential that is missing, not known or permits less."""
    principal = None if caller is None else caller.recognized
    # A wrong code is a refused sign-in.
    judged = [each for each in failures if each.status in _OF_ACCESS and not isinstance(each, InvalidCode)]
    for reason in sorted({failure.code for failure in judged}):
        _note("access refused", ACCESS, REFUSED, reason=reason, **_who(principal))


async def audited(
    operation: Operation, caller: Caller, arguments: Mapping[str, Any], result: Awaitable[Any]
) -> Any:
    """The same result of a sensitive operation, with a line that says what became of it.

    What it is about is named once it is done: before that, nothing tells whether the ids are ours.
    """
    # Whoever leaves a workspace or ends a session is another principal afterwards.
    who, done = _who(caller.principal), {}
    outcome, reason = FAILED, None
    try:
        answer = await result
        outcome, done = DONE, {"about": _about(arguments, answer)}
        return answer
    except Failure as failure:
        outcome, reason = REFUSED, failure.code
        raise
    finally:
        values = {"operation": operation.name, "outcome": outcome, "reason": reason, **done, **who}
        caller.once_confirmed(partial(_note, "audit", operation.name, outcome, **values))


def _about(arguments: Mapping[str, Any], answer: Any) -> dict[str, Any]:
    """Of the path and the body what is no text of the caller: ids, moments, switches and words of ours."""
    data, made = arguments.get("data"), _id_of(answer)
    sent = {**arguments, **(vars(data) if isinstance(data, BaseModel) else {})}
    plain = {name: _plain(unwrapped(value)) for name, value in sent.items()}
    about = {name: value for name, value in plain.items() if value is not None}
    return about if made in (None, about.get("id")) else about | {"made": made}


def _id_of(answer: Any) -> str | None:
    """That of the answer, or of the resource beside the secret that is shown once."""
    if isinstance(answer, ShapedRow):
        return str(answer.written()["id"])
    values = vars(answer) if isinstance(answer, Output) else {}
    ids = (each.id for each in values.values() if isinstance(each, Resource))
    made = values.get("id") or next(ids, None)
    return None if made is None else str(made)


def _note(line: str, event: str, outcome: str, /, **values: Any) -> None:
    counts[event, outcome] += 1
    log.info(line, **{k: str(v) if isinstance(v, UUID) else v for k, v in values.items() if v is not None})


def _who(principal: Principal | None) -> dict[str, Any]:
    """As in the line of a request."""
    if principal is None:
        return {}
    owner = "user" if principal.workspace_id is None else "workspace"
    ids = {"credential": principal.credential_id, "kind": principal.kind.value}
    return {**ids, owner: principal.workspace_id or principal.user_id, "customer": principal.customer_id}


def _plain(value: Any) -> Any:
    if isinstance(value, list | set | frozenset | tuple):
        items = [_plain(item) for item in value]
        return None if None in items or not items else sorted(items)
    if isinstance(value, Enum) or (isinstance(value, str) and value in _SCOPES):
        return str(value)
    if isinstance(value, bool):
        return value
    return str(value) if isinstance(value, UUID | datetime) else None
