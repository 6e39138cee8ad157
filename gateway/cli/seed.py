"""`duograph seed`: a workspace to try things on."""

from typing import Annotated

import typer

from gateway.cli.database import migrated, read_settings, wait_for
from gateway.cli.demo import DAYS, SESSIONS, Demo, make_demo
from gateway.cli.demo_writer import write_activity
from gateway.cli.output import Json, show
from gateway.settings.settings import Settings

app = typer.Typer()


Sessions = Annotated[
    int, typer.Option(min=0, max=10_000_000, help="File-share sessions to make, and as many events.")
]
Days = Annotated[int, typer.Option(min=1, max=3650, help="Over how many days they are spread, up to now.")]


@app.command()
def seed(sessions: Sessions = SESSIONS, days: Days = DAYS, as_json: Json = False) -> None:
    """Make a new demo workspace with data and activity in it; what is there already stays as it is."""
    demo = wait_for(_seed(read_settings(), sessions, days))
    result = {
        "workspace": demo.workspace.model_dump(mode="json"),
        "workspace_token": demo.workspace_token,
        "user": {"email": demo.email, "password": demo.password},
        "personal_token": demo.personal_token,
    }
    show(result, _describe(demo), as_json=as_json)


async def _seed(settings: Settings, sessions: int, days: int) -> Demo:
    async with migrated(settings, migrate_sqlite=True) as database:
        demo = await make_demo(settings, database)
        await write_activity(database, demo.workspace.id, sessions, days)
        return demo


def _describe(demo: Demo) -> str:
    lines = (
        f"Made the workspace {demo.workspace.slug}; its secrets are not shown again.",
        f"workspace token  {demo.workspace_token}",
        f"personal token   {demo.personal_token}",
        f"sign in          {demo.email} with {demo.password}",
    )
    return "\n".join(lines)
