"""What `duograph clients` does."""

from typing import Any

from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import checked, user_of
from gateway.cli.kit.output import CommandError, listing, sheet, show
from gateway.settings.settings import Settings
from oauth.provider.clients import AuthMethod
from oauth.scopes import CLIENT_SCOPES
from resolvers.credentials.oauth_clients import create_client, delete_client, list_clients
from schema.credentials.oauth_clients import OAuthClientCreate
from schema.values.scalars import write_moment
from storage.engine.connections import Connection
from storage.tables.credentials.oauth_clients import OAuthClientRow


def create(
    name: str,
    redirect_uri: list[str],
    scope: list[str] | None,
    *,
    public: bool,
    owner: str | None,
    as_json: bool,
) -> None:
    data = checked(
        OAuthClientCreate,
        name=name,
        redirect_uris=redirect_uri,
        scopes=scope or sorted(CLIENT_SCOPES),
        is_public=public,
    )
    result = wait_for(_create(read_settings(), data, owner))
    lines = [result["client_id"]]
    if not public:
        lines += [result["client_secret"], "Save the secret: it is not shown again."]
    show(result, "\n".join(lines), as_json=as_json)


def list_(limit: int, *, as_json: bool) -> None:
    rows = wait_for(_list(read_settings(), limit))
    text = listing("clients", rows, ("client_id", "name", "owner", "created_at"))
    show({"clients": rows}, text, as_json=as_json)


def show_(client_id: str, *, as_json: bool) -> None:
    client = wait_for(_show(read_settings(), client_id))
    show(client, sheet(client), as_json=as_json)


def delete(client_id: str, *, as_json: bool) -> None:
    client = wait_for(_delete(read_settings(), client_id))
    show(client, f"Deleted the client {client['name']} ({client_id}).", as_json=as_json)


async def _list(settings: Settings, limit: int) -> list[dict[str, Any]]:
    async with migrated(settings) as database, database.read() as connection:
        return [_described(row, owner) for row, owner in await list_clients(connection, limit)]


async def _show(settings: Settings, client_id: str) -> dict[str, Any]:
    async with migrated(settings) as database, database.read() as connection:
        return _described(*await _found(connection, client_id))


async def _delete(settings: Settings, client_id: str) -> dict[str, Any]:
    async with migrated(settings) as database, database.write() as connection:
        row, owner = await _found(connection, client_id)
        await delete_client(connection, row)
        return _described(row, owner)


async def _found(connection: Connection, client_id: str) -> tuple[OAuthClientRow, str | None]:
    for found in await list_clients(connection, client_id=client_id):
        return found
    raise CommandError("There is no such client: `duograph clients list` shows their ids.")


def _described(row: OAuthClientRow, owner: str | None) -> dict[str, Any]:
    return {
        "client_id": row.client_id,
        "name": row.name,
        "owner": owner,
        "is_public": row.token_endpoint_auth_method == AuthMethod.NONE,
        "redirect_uris": row.redirect_uris,
        "scopes": row.scopes,
        "created_at": write_moment(row.created_at),
    }


async def _create(settings: Settings, data: OAuthClientCreate, owner: str | None) -> dict[str, Any]:
    async with migrated(settings) as database, database.write() as connection:
        user_id = (await user_of(connection, owner)).id if owner else None
        secret, row = await create_client(connection, data, user_id=user_id, maker_user_id=user_id)
    return {"client_id": row.client_id} | ({} if secret is None else {"client_secret": secret})
