"""Answers to public clients' refreshes, stored briefly so that a client can retry after a lost connection."""

import json
from datetime import timedelta
from typing import Any

from sqlalchemy import select

from oauth.credentials import digest
from oauth.provider.issued_tokens import IssuedCredential
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import insert_row, table_of
from storage.sealing import Purpose, Unreadable, seal, unseal
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.refresh_answers import RefreshAnswerRow

KEPT_FOR = timedelta(seconds=30)

_answers, _credentials = table_of(RefreshAnswerRow), table_of(CredentialRow)


async def keep_answer(
    connection: Connection,
    token: str,
    replaced: IssuedCredential,
    scope: str | None,
    answer: dict[str, Any],
) -> None:
    """Store the answer that replaces `token`; `scope` is the request's."""
    about, plain = _about(replaced, scope), json.dumps(answer).encode()
    await insert_row(
        connection,
        RefreshAnswerRow,
        hash=digest(token),
        expires_at=now() + KEPT_FOR,
        sealed=seal(token.encode(), Purpose.REFRESH_ANSWER, plain, about),
    )


async def find_answer(
    connection: Connection, token: str, replaced: IssuedCredential, scope: str | None
) -> dict[str, Any] | None:
    """The stored answer that replaced `token`.

    None after 30 seconds, for another `scope`, and once a token in the answer was replaced or revoked.
    """
    if replaced.grant.revoked_at is not None:
        return None
    statement = select(_answers.c.sealed).where(
        _answers.c.hash == digest(token), _answers.c.expires_at > now()
    )
    sealed = (await connection.execute(statement)).scalar_one_or_none()
    if sealed is None:
        return None
    try:
        plain = unseal(token.encode(), Purpose.REFRESH_ANSWER, sealed, _about(replaced, scope))
    except Unreadable:
        return None
    answer: dict[str, Any] = json.loads(plain)
    issued = [digest(answer[name]) for name in ("access_token", "refresh_token")]
    unused = select(_credentials.c.hash).where(
        _credentials.c.hash.in_(issued), _credentials.c.revoked_at.is_(None)
    )
    return answer if len((await connection.execute(unused)).all()) == len(issued) else None


def _about(replaced: IssuedCredential, scope: str | None) -> str:
    return json.dumps([str(replaced.row.id), str(replaced.grant.oauth_client_id), scope])
