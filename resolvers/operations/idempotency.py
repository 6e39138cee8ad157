"""Idempotency-Key: a retry of a change changes nothing and gets the first request's answer."""

import json
from collections.abc import Mapping
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from pydantic import BaseModel
from sqlalchemy import and_, delete, func, select

from resolvers.operations.context import Context
from resolvers.operations.declaration import Operation
from schema.errors import IdempotencyConflict
from storage.clock import now
from storage.retention.rules import RETRIES_KEPT_FOR
from storage.rows.rows import first, insert_row, table_of
from storage.sealing import Purpose, Unreadable, seal, unseal
from storage.tables.idempotency_keys import IdempotencyKeyRow

_keys = table_of(IdempotencyKeyRow)


async def find(
    change: Context, operation: Operation, arguments: Mapping[str, Any]
) -> IdempotencyKeyRow | None:
    """The row of the caller's key, or None if the key is unused.

    Raises `IdempotencyConflict` if the first request is still running or had other parameters.
    """
    identity = _identity(change, operation)
    if change.connection.dialect.name == "postgresql":
        lock = int.from_bytes(sha256(json.dumps(identity).encode()).digest()[:8], signed=True)
        if not (await change.connection.execute(select(func.pg_try_advisory_xact_lock(lock)))).scalar_one():
            raise IdempotencyConflict("The first request with this Idempotency-Key is still running.")
    own = and_(*(_keys.c[name] == value for name, value in identity.items()))
    kept = await first(change.connection, IdempotencyKeyRow, own)
    if kept is None:
        return None
    if kept.created_at < now() - RETRIES_KEPT_FOR:
        await change.connection.execute(delete(_keys).where(own))
        return None
    if kept.digest != _digest(arguments):
        raise IdempotencyConflict("This Idempotency-Key was used with other parameters.")
    return kept


async def keep(change: Context, operation: Operation, arguments: Mapping[str, Any], result: Any) -> None:
    """Store a retry's answer, in the operation's own transaction."""
    columns: dict[str, Any] = {}
    identity, created_at = _identity(change, operation), now()
    if operation.seals:
        secret, about = _protection(change, identity, created_at)
        columns["sealed"] = seal(secret, Purpose.IDEMPOTENT_ANSWER, result.model_dump_json().encode(), about)
    elif isinstance(result, UUID):
        columns["resource_id"] = result
    elif operation.gives is not None:
        columns["resource_id"] = result.id
    else:
        columns["answer"] = result.model_dump(mode="json")
    await insert_row(
        change.connection,
        IdempotencyKeyRow,
        **identity,
        created_at=created_at,
        digest=_digest(arguments),
        status=change.outcome.status,
        **columns,
    )


async def replay(change: Context, operation: Operation, kept: IdempotencyKeyRow) -> Any:
    """The current state of the first answer's resource, or its counts or sealed secret.

    Raises `NotFound` if the resource is gone, `IdempotencyConflict` if another credential sealed it.
    """
    change.outcome.replayed = True
    change.outcome.status = kept.status
    if kept.sealed is not None:
        return operation.answer.model_validate_json(_unseal(change, operation, kept, kept.sealed))
    if kept.answer is not None:
        return operation.answer.model_validate(kept.answer)
    if operation.gives is None:
        return kept.resource_id
    # The caller's own resource, like its profile, is read without an id.
    identity = {"id": kept.resource_id} if operation.gives.parameters else {}
    return await operation.gives.resolver(change, **identity)


def _identity(change: Context, operation: Operation) -> dict[str, str]:
    key = change.caller.idempotency_key or ""
    return {"subject": change.principal.subject, "operation": operation.name, "key": key}


def _digest(arguments: Mapping[str, Any]) -> str:
    plain = {
        name: value.model_dump(mode="json") if isinstance(value, BaseModel) else value
        for name, value in arguments.items()
    }
    return sha256(json.dumps(plain, sort_keys=True, default=str).encode()).hexdigest()


def _protection(change: Context, identity: Mapping[str, str], created_at: datetime) -> tuple[bytes, str]:
    """The secret that seals the answer, with the credential in it, and the row that it is bound to."""
    row = [*identity.values(), created_at.isoformat()]
    return json.dumps([change.caller.credential, *row]).encode(), json.dumps(row)


def _unseal(change: Context, operation: Operation, kept: IdempotencyKeyRow, sealed: str) -> bytes:
    secret, about = _protection(change, _identity(change, operation), kept.created_at)
    try:
        return unseal(secret, Purpose.IDEMPOTENT_ANSWER, sealed, about)
    except Unreadable:
        raise IdempotencyConflict(
            "This Idempotency-Key was used with another credential; its secret is not shown again."
        ) from None
