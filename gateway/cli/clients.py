"""What `duograph clients` does."""

from typing import Any

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import checked, user_of
from gateway.cli.output import show
from gateway.settings.settings import Settings
from oauth.scopes import CLIENT_SCOPES
from resolvers.credentials.oauth_clients import create_client
from schema.oauth_clients import OAuthClientCreate


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


async def _create(settings: Settings, data: OAuthClientCreate, owner: str | None) -> dict[str, Any]:
    async with migrated(settings) as database, database.write() as connection:
        user_id = (await user_of(connection, owner)).id if owner else None
        secret, row = await create_client(connection, data, user_id=user_id, maker_user_id=user_id)
    return {"client_id": row.client_id} | ({} if secret is None else {"client_secret": secret})
