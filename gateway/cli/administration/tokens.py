"""What `duograph tokens` does."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import checked, user_of, workspace_of
from gateway.cli.kit.output import CommandError, sheet, show, table
from gateway.settings.settings import Settings
from oauth.credentials import Credential, kind_of
from oauth.revocation.credentials import revoke_credential
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.credentials.leaks import notify_owners
from resolvers.credentials.tokens import ListedToken, issue_token, list_tokens
from resolvers.workspaces.administration import first_owner_id
from schema.credentials.access_tokens import PersonalAccessTokenCreate, WorkspaceAccessTokenCreate
from schema.values.scalars import write_moment
from storage.engine.connections import Connection
from storage.enums import CredentialKind
from storage.tables.credentials.credentials import CredentialRow

TokenCreate = WorkspaceAccessTokenCreate | PersonalAccessTokenCreate


def create(
    workspace: str | None,
    user: str | None,
    scope: list[str] | None,
    *,
    comment: str,
    expires_in: int | None,
    as_json: bool,
) -> None:
    values = {"comment": comment, "expires_in": expires_in}
    data: TokenCreate
    if user is None:
        data = checked(WorkspaceAccessTokenCreate, scopes=scope or sorted(WORKSPACE_SCOPES), **values)
    else:
        data = checked(PersonalAccessTokenCreate, scopes=scope or sorted(USER_SCOPES), **values)
    credential, row = wait_for(_create(read_settings(), workspace, user, data))
    result = {
        "id": str(row.id),
        "token": credential.text,
        "scopes": row.scopes,
        "expires_at": _moment(row.expires_at),
    }
    text = f"{credential.text}\nSave it: it is not shown again. Its id is {row.id}."
    show(result, text, as_json=as_json)


def list_(workspace: str | None, user: str | None, *, as_json: bool) -> None:
    rows = wait_for(_list(read_settings(), workspace, user))
    headings = ("ID", "OWNER", "COMMENT", "LAST USED", "EXPIRES")
    cells = [
        (row["id"], row["workspace"] or row["user"], row["comment"], row["last_used_at"], row["expires_at"])
        for row in rows
    ]
    text = table([headings, *(tuple(str(cell or "-") for cell in line) for line in cells)])
    show({"tokens": rows}, text if rows else "There are no tokens.", as_json=as_json)


def show_(token_or_id: str, *, as_json: bool) -> None:
    token = wait_for(_show(read_settings(), _identifier(token_or_id)))
    show(token, sheet(token), as_json=as_json)


def revoke(token_or_id: str, *, as_json: bool) -> None:
    row = wait_for(_revoke(read_settings(), _identifier(token_or_id)))
    result = {"id": str(row.id), "revoked_at": _moment(row.revoked_at)}
    show(result, f"The credential {row.id} is revoked.", as_json=as_json)


async def _create(
    settings: Settings, slug: str | None, email: str | None, data: TokenCreate
) -> tuple[Credential, CredentialRow]:
    async with migrated(settings) as database, database.write() as connection:
        kind, owner = await _owner(connection, slug, email)
        return await issue_token(
            connection,
            kind,
            {Scope(scope) for scope in data.scopes},
            **owner,
            comment=data.comment,
            expires_in=timedelta(seconds=data.expires_in) if data.expires_in else None,
        )


async def _owner(
    connection: Connection, slug: str | None, email: str | None
) -> tuple[CredentialKind, dict[str, Any]]:
    if slug is None:
        return CredentialKind.PERSONAL_TOKEN, {"user_id": (await user_of(connection, email or "")).id}
    workspace = await workspace_of(connection, slug)
    maker_user_id = await first_owner_id(connection, workspace.id)
    owner = {"workspace_id": workspace.id, "maker_user_id": maker_user_id}
    return CredentialKind.WORKSPACE_TOKEN, owner


async def _list(settings: Settings, slug: str | None, email: str | None) -> list[dict[str, Any]]:
    async with migrated(settings) as database, database.snapshot() as connection:
        workspace_id = (await workspace_of(connection, slug)).id if slug else None
        user_id = (await user_of(connection, email)).id if email else None
        return [_listed(row) for row in await list_tokens(connection, workspace_id, user_id)]


async def _show(settings: Settings, token_or_id: UUID | str) -> dict[str, Any]:
    async with migrated(settings) as database, database.snapshot() as connection:
        for token in await list_tokens(connection, identifier=token_or_id):
            return _listed(token)
    raise CommandError("There is no such valid token: `duograph tokens list` shows ids.")


async def _revoke(settings: Settings, token_or_id: UUID | str) -> CredentialRow:
    async with migrated(settings) as database, database.write() as connection:
        revoked = await revoke_credential(connection, token_or_id)
        if revoked is None:
            raise CommandError("There is no such credential: `duograph tokens list` shows ids.")
        await notify_owners(connection, {revoked.row.hash: revoked}, settings.sign_in_url)
    return revoked.row


def _identifier(text: str) -> UUID | str:
    """The id, or the text of a credential; the error does not repeat an invalid text."""
    if kind_of(text) is not None:
        return text
    try:
        return UUID(text)
    except ValueError:
        raise CommandError("This is neither a token nor an id: `duograph tokens list` shows ids.") from None


def _listed(token: ListedToken) -> dict[str, Any]:
    row = token.row
    return {
        "id": str(row.id),
        "workspace": token.slug,
        "user": token.email,
        "scopes": row.scopes,
        "comment": row.comment,
        "created_at": _moment(row.created_at),
        "last_used_at": _moment(row.last_used_at),
        "expires_at": _moment(row.expires_at),
    }


def _moment(moment: datetime | None) -> str | None:
    return write_moment(moment) if moment else None
