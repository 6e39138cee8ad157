"""Leaked credentials: revoked at once, and their owners notified by email."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import select

from oauth.credentials import digest, kind_of
from oauth.revocation.credentials import Revoked, revoke_credential
from resolvers.mails.brands import DUOGRAPH, find_brand
from resolvers.mails.mails import Reader, make_mails
from resolvers.mails.members import mailed_members
from resolvers.operations.context import Context
from resolvers.operations.declaration import public
from schema.credentials.leaks import Leak, LeakLabel, LeakVerdict
from schema.languages.speech import gettext, noted
from storage.changes.kinds import ChangeKind
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.queues.mails import Mail, write_mails
from storage.rows.rows import table_of
from storage.tables.accounts.users import UserRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow

HASHES_IN_A_STATEMENT = 1_000
NOUNS = {
    CredentialKind.WORKSPACE_TOKEN: noted("workspace access token"),
    CredentialKind.PERSONAL_TOKEN: noted("personal access token"),
    CredentialKind.CUSTOMER_SESSION: noted("customer session"),
    CredentialKind.ACCESS_TOKEN: noted("OAuth access token"),
    CredentialKind.REFRESH_TOKEN: noted("OAuth refresh token"),
    CredentialKind.AUTHORIZATION_CODE: noted("OAuth authorization code"),
    CredentialKind.CLIENT_SECRET: noted("secret of an OAuth client"),
    CredentialKind.REGISTRATION_TOKEN: noted("registration token of an OAuth client"),
    CredentialKind.BROWSER_SESSION: noted("browser session"),
}

_credentials, _clients = table_of(CredentialRow), table_of(OAuthClientRow)
_users = table_of(UserRow)


@dataclass(frozen=True)
class Owner:
    """The workspace or user that a credential belongs to; neither if there is no one to notify."""

    workspace_id: UUID | None
    user_id: UUID | None


@public(
    "the report is signed, and the surface checks the signature",
    restricted=True,
    causes=(ChangeKind.WORKSPACE_ACCESS_TOKEN_LEAKED,),
)
async def report_leaks(ctx: Context, data: list[Leak]) -> list[LeakVerdict]:
    """Revokes every reported credential of this service, and notifies its owner by email.

    A reported token is a true positive if the service issued it, even if it had ended before.
    """
    leaks = {digest(leak.token): leak for leak in data if kind_of(leak.token) is not None}
    async with ctx.change() as change:
        # A fixed order, so that two reports of the same tokens cannot deadlock.
        issued = sorted(await _issued(change.connection, list(leaks)))
        revoked = {hash: await revoke_credential(change.connection, leaks[hash].token) for hash in issued}
        urls = {hash: leaks[hash].url for hash in issued}
        await notify_owners(change.connection, revoked, ctx.services.auth_url, urls)
    if issued:
        ctx.services.wake_delivery()
    return [
        LeakVerdict(
            token_raw=leak.token,
            token_type=leak.type,
            label=LeakLabel.TRUE_POSITIVE if digest(leak.token) in revoked else LeakLabel.FALSE_POSITIVE,
        )
        for leak in data
    ]


async def notify_owners(
    connection: Connection,
    revoked: Mapping[str, Revoked | None],
    auth_url: str,
    urls: Mapping[str, str | None] | None = None,
) -> None:
    """Email the owners of credentials that were live until now, one email for each owner and address.

    `urls` holds, by hash, where each was found in public; without it, an operator revoked them.
    """
    by_owner: dict[Owner, list[CredentialRow]] = defaultdict(list)
    for revocation in revoked.values():
        if revocation is not None and revocation.was_live:
            by_owner[await _owner_of(connection, revocation.row)].append(revocation.row)
    for owner, rows in by_owner.items():
        credentials = [{**_named(row), "url": (urls or {}).get(row.hash)} for row in rows]
        values = {"credentials": credentials, "in_public": urls is not None, "home": f"{auth_url}/"}
        mails = await _mails_to(connection, owner, auth_url, values)
        await write_mails(connection, mails, owner.workspace_id)


async def _issued(connection: Connection, hashes: Sequence[str]) -> list[str]:
    issued: list[str] = []
    for start in range(0, len(hashes), HASHES_IN_A_STATEMENT):
        chunk = hashes[start : start + HASHES_IN_A_STATEMENT]
        rows = await connection.execute(select(_credentials.c.hash).where(_credentials.c.hash.in_(chunk)))
        issued += rows.scalars()
    return issued


async def _owner_of(connection: Connection, row: CredentialRow) -> Owner:
    """The workspace or user of the credential, or those of its OAuth client."""
    if row.workspace_id is not None or row.user_id is not None or row.oauth_client_id is None:
        return Owner(row.workspace_id, None if row.workspace_id else row.user_id)
    statement = select(_clients.c.workspace_id, _clients.c.user_id).where(
        _clients.c.id == row.oauth_client_id
    )
    return Owner(*(await connection.execute(statement)).one())


async def _mails_to(
    connection: Connection, owner: Owner, auth_url: str, values: dict[str, Any]
) -> list[Mail]:
    brand, workspace = DUOGRAPH, None
    if owner.workspace_id is not None:
        brand = await find_brand(connection, owner.workspace_id, auth_url)
        workspace = brand.name
        readers = await mailed_members(connection, owner.workspace_id)
    else:
        statement = select(_users.c.email, _users.c.language).where(_users.c.id == owner.user_id)
        readers = [Reader(*row) for row in await connection.execute(statement)]
    return make_mails(readers, "leak", brand=brand, workspace=workspace, **values)


def _named(row: CredentialRow) -> dict[str, Any]:
    return {"noun": partial(gettext, NOUNS[CredentialKind(row.kind)]), "comment": row.comment}
