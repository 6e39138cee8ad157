"""`duograph clients`: create applications that users can connect."""

from typing import Annotated, Any

import typer

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import checked, user_of
from gateway.cli.output import Json, noun, show
from gateway.settings.settings import Settings
from oauth.scopes import CLIENT_SCOPES
from resolvers.credentials.oauth_clients import create_client
from schema.oauth_clients import OAuthClientCreate

app = noun("OAuth clients: applications that users can connect.")


@app.command()
def create(
    *,
    name: Annotated[str, typer.Option(help="Shown to users who are asked to allow it.")],
    redirect_uri: Annotated[
        list[str], typer.Option(metavar="URI", help="An address users may be sent back to; repeat for more.")
    ],
    scope: Annotated[
        list[str] | None, typer.Option(help="A scope it may request; repeat for more. All if left out.")
    ] = None,
    public: Annotated[bool, typer.Option("--public", help="It cannot keep a secret and uses PKCE.")] = False,
    owner: Annotated[str | None, typer.Option(metavar="EMAIL", help="The user who manages it.")] = None,
    as_json: Json = False,
) -> None:
    """Create an OAuth client and show its secret once; a public client has none."""
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
