"""Whether totals are right: what an upgrade left to count again, and a sample of workspaces."""

from collections.abc import AsyncIterator

from sqlalchemy import func, select

from gateway.cli.kit.database import migrated
from gateway.settings.settings import Settings
from storage.engine.database import Database
from storage.ledger.checking import verify
from storage.operator_errors import OperatorError
from storage.rows.rows import table_of
from storage.tables.workspaces.workspaces import WorkspaceRow
from storage.upkeep.recounting import TOTALS, read_recount

SAMPLE = 20

_workspaces = table_of(WorkspaceRow)


async def warnings_of_totals(settings: Settings) -> AsyncIterator[tuple[str, str]]:
    """Yield the topic and the sentence of each warning; a database without an answer is found elsewhere."""
    try:
        async with migrated(settings) as database:
            recount = await read_recount(database)
            if recount is None:
                sentence = await _about_sample(database)
            else:
                left = f"the totals of {recount.workspaces} workspaces have to be counted again"
                first = f", after {recount.older} connections of older processes end" if recount.older else ""
                sentence = f"Since the upgrade, {left}: a running gateway does so{first}."
    except OperatorError:
        return
    if sentence is not None:
        yield "totals", sentence


async def _about_sample(database: Database) -> str | None:
    present = select(_workspaces.c.id).where(_workspaces.c.deleted_at.is_(None))
    async with database.read() as connection:
        ids = (await connection.execute(present.order_by(func.random()).limit(SAMPLE))).scalars().all()
    wrong = sum([(await verify(database, id, TOTALS)).differences > 0 for id in ids])
    if not wrong:
        return None
    return (
        f"Totals of {wrong} of {len(ids)} workspaces differ from the rows: `duograph totals rebuild` "
        "corrects them."
    )
