"""Revocation of a single credential of any kind, for operators and leak reports."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select

from oauth.credentials import digest
from oauth.revocation.grants import end_grants
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.rows.rows import first, table_of, update_row
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow

# These can be exchanged for more tokens, so their whole grant is revoked with them.
_GIVE_TOKENS = (CredentialKind.REFRESH_TOKEN, CredentialKind.AUTHORIZATION_CODE)

_credentials, _grants = table_of(CredentialRow), table_of(OAuthGrantRow)


@dataclass(frozen=True)
class Revoked:
    """A revoked credential; `was_live` is whether it was valid until now."""

    row: CredentialRow
    was_live: bool


async def revoke_credential(connection: Connection, text_or_id: UUID | str) -> Revoked | None:
    """Revoke the credential with this text or id; None if there is none.

    It fails from its next use on, in every process. One that is revoked already is left unchanged.
    """
    condition: Any = _credentials.c.id == text_or_id
    if isinstance(text_or_id, str):
        condition = _credentials.c.hash == digest(text_or_id)
    # The grant is locked before the credential, as in `find_issued`: one order avoids deadlocks.
    grant = select(_credentials.c.grant_id).where(condition).scalar_subquery()
    await connection.execute(select(_grants.c.id).where(_grants.c.id == grant).with_for_update())
    row, moment = await first(connection, CredentialRow, condition, lock=True), now()
    if row is None:
        return None
    if row.revoked_at is not None:
        return Revoked(row, was_live=False)
    was_live = row.expires_at is None or row.expires_at > moment
    row = await update_row(connection, CredentialRow, row, revoked_at=moment)
    if row.grant_id is not None and CredentialKind(row.kind) in _GIVE_TOKENS:
        await end_grants(connection, _grants.c.id == row.grant_id)
    return Revoked(row, was_live)
