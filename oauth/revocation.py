"""The end of one credential, of whatever kind, by those who need not own it: operators and leak reports."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.credentials import digest
from oauth.endings import end_grants
from storage.clock import now
from storage.enums import CredentialKind
from storage.rows import first, table_of, update_row
from storage.tables.credentials import CredentialRow
from storage.tables.oauth_grants import OAuthGrantRow

# With these more tokens can be had, so all that came of the same authorization ends with them.
_GIVE_TOKENS = (CredentialKind.REFRESH_TOKEN, CredentialKind.AUTHORIZATION_CODE)

_credentials, _grants = table_of(CredentialRow), table_of(OAuthGrantRow)


@dataclass(frozen=True)
class Revoked:
    """A credential that does not count any more; `was_live` says whether it did until now."""

    row: CredentialRow
    was_live: bool


async def revoke_credential(connection: AsyncConnection, text_or_id: UUID | str) -> Revoked | None:
    """End a credential, found by its text or its id; None where there is none.

    It fails from its next use on, in every process. One that was revoked before keeps its moment.
    """
    wanted: Any = _credentials.c.id == text_or_id
    if isinstance(text_or_id, str):
        wanted = _credentials.c.hash == digest(text_or_id)
    # Before the credential, as in `find_issued`: what is locked in one order makes nobody wait for ever.
    grant = select(_credentials.c.grant_id).where(wanted).scalar_subquery()
    await connection.execute(select(_grants.c.id).where(_grants.c.id == grant).with_for_update())
    row, moment = await first(connection, CredentialRow, wanted, lock=True), now()
    if row is None:
        return None
    if row.revoked_at is not None:
        return Revoked(row, was_live=False)
    was_live = row.expires_at is None or row.expires_at > moment
    row = await update_row(connection, CredentialRow, row, revoked_at=moment)
    if row.grant_id is not None and CredentialKind(row.kind) in _GIVE_TOKENS:
        await end_grants(connection, _grants.c.id == row.grant_id)
    return Revoked(row, was_live)
