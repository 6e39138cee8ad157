"""`duograph limits`: how much a workspace may ask."""

from typing import Annotated, Any

import typer

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.input import workspace_of
from gateway.cli.output import Json, noun, show
from gateway.settings import Settings
from resolvers.administration import LARGEST_LIMIT, set_limit

app = noun("How much a workspace may ask.")


@app.command("set")
def set_(
    slug: Annotated[str, typer.Argument(help="The workspace.")],
    requests_per_minute: Annotated[
        int,
        typer.Argument(metavar="N", min=0, max=LARGEST_LIMIT, help="Calls a minute; 0 for no limit."),
    ],
    as_json: Json = False,
) -> None:
    """Give a workspace its own limit, from its next request on."""
    workspace = wait_for(_set(read_settings(), slug, requests_per_minute))
    result = {"slug": workspace["slug"], "requests_per_minute": workspace["requests_per_minute"]}
    amount = f"{requests_per_minute} calls a minute" if requests_per_minute else "calls without a limit"
    show(result, f"The workspace {workspace['slug']} may make {amount}.", as_json=as_json)


async def _set(settings: Settings, slug: str, requests_per_minute: int) -> dict[str, Any]:
    async with migrated(settings) as database, database.write() as connection:
        return await set_limit(connection, await workspace_of(connection, slug), requests_per_minute)
