"""`duograph seed`: a workspace to try things on."""

import typer

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.demo import Demo, make_demo
from gateway.cli.output import Json, show
from gateway.settings import Settings

app = typer.Typer()


@app.command()
def seed(as_json: Json = False) -> None:
    """Make a new demo workspace with data in it; what is there already stays as it is."""
    demo = wait_for(_seed(read_settings()))
    result = {
        "workspace": demo.workspace.model_dump(mode="json"),
        "workspace_token": demo.workspace_token,
        "user": {"email": demo.email, "password": demo.password},
        "personal_token": demo.personal_token,
    }
    show(result, _describe(demo), as_json=as_json)


async def _seed(settings: Settings) -> Demo:
    async with migrated(settings, migrate_sqlite=True) as database:
        return await make_demo(settings, database)


def _describe(demo: Demo) -> str:
    lines = (
        f"Made the workspace {demo.workspace.slug}; its secrets are not shown again.",
        f"workspace token  {demo.workspace_token}",
        f"personal token   {demo.personal_token}",
        f"sign in          {demo.email} with {demo.password}",
    )
    return "\n".join(lines)
