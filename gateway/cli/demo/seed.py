"""Seeding: a demo workspace."""

from gateway.cli.demo.demo import Demo, make_demo
from gateway.cli.demo.files import add_files
from gateway.cli.demo.writer import write_activity
from gateway.cli.kit.as_user import in_place_of_workspace
from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.output import show
from gateway.settings.settings import Settings


def seed(sessions: int, days: int, *, as_json: bool) -> None:
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
        ctx = in_place_of_workspace(demo.workspace.id, settings, database)
        await add_files(ctx)
        await write_activity(ctx, demo.workspace.id, sessions, days)
        return demo


def _describe(demo: Demo) -> str:
    lines = (
        f"Created the workspace {demo.workspace.slug}. Its secrets are not shown again.",
        f"workspace token  {demo.workspace_token}",
        f"personal token   {demo.personal_token}",
        f"sign in          {demo.email} with {demo.password}",
    )
    return "\n".join(lines)
