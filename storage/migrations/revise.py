"""`python -m storage.migrations.revise MESSAGE`: write the revision for changed tables."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from alembic import command
from alembic.autogenerate.api import AutogenContext
from alembic.autogenerate.render import renderers
from alembic.operations.ops import AddColumnOp, CreateTableOp, MigrationScript, ModifyTableOps
from sqlalchemy import Column, Connection, DefaultClause, text

from storage.engine.database import Database
from storage.migrations.revisions import next_revision
from storage.migrations.run import config_of, upgrade
from storage.workspaces.distribution import COLUMN

_TENANT_TABLES = "from storage.migrations.tenant_tables import create_tenant_table"


class CreateTenantTable(CreateTableOp):
    """A new table of workspaces, which the revision makes by `create_tenant_table`."""


class RevisionRefused(Exception):
    """The tables do not differ from the newest revision, or rows that exist could not follow the change."""


async def revise(message: str) -> None:
    """Compare an empty database at the newest revision with the tables, and write their difference.

    Raises `RevisionRefused`.
    """
    with TemporaryDirectory() as folder:
        database = Database(f"sqlite+aiosqlite:///{Path(folder) / 'revise.sqlite'}")
        try:
            await upgrade(database)
            async with database.write() as connection:
                await connection.run_sync(_write, message)
        finally:
            await database.close()


def complete(_: Any, __: Any, directives: Sequence[MigrationScript]) -> None:
    """Complete what Alembic has found, in place.

    New columns that are not null get the default of their field, for the rows that exist. New tables of
    workspaces are distributed on a cluster. Alembic's hook `process_revision_directives`. Raises
    `RevisionRefused`.
    """
    (script,) = directives
    if script.upgrade_ops is None or script.upgrade_ops.is_empty():
        raise RevisionRefused("The tables are as the newest revision leaves them: there is nothing to write.")
    script.upgrade_ops.ops = [_distributed(change) for change in script.upgrade_ops.ops]
    for change in script.upgrade_ops.ops:
        for operation in change.ops if isinstance(change, ModifyTableOps) else ():
            if isinstance(operation, AddColumnOp):
                _fill(operation.table_name, operation.column)


def _write(connection: Connection, message: str) -> None:
    config = config_of(connection)
    rev_id = next_revision()
    command.revision(config, message, autogenerate=True, rev_id=rev_id, process_revision_directives=complete)


def _distributed(change: Any) -> Any:
    if isinstance(change, CreateTableOp) and COLUMN in (table := change.to_table()).primary_key.columns:
        return CreateTenantTable.from_table(table)
    return change


@renderers.dispatch_for(CreateTenantTable)
def _written(context: AutogenContext, change: CreateTenantTable) -> str:
    context.imports.add(_TENANT_TABLES)
    written: str = renderers.dispatch(CreateTableOp("", []))(context, change)
    return written.replace("op.create_table(", "create_tenant_table(", 1)


def _fill(table: str, column: Column[Any]) -> None:
    if column.nullable or column.server_default is not None:
        return
    default = getattr(column.default, "arg", None)
    if not isinstance(default, bool | int | str):
        raise RevisionRefused(
            f"The column {column.name} of {table} is not null and has no constant default, so existing rows "
            "would have no value. Give its field a default, or make it nullable and fill it in the revision."
        )
    column.server_default = DefaultClause(_constant(default))


def _constant(default: bool | int | str) -> Any:
    """The default as SQL that both databases read; a text is quoted by SQLAlchemy."""
    return default if isinstance(default, str) else text(str(default).lower())


if __name__ == "__main__":
    try:
        asyncio.run(revise(" ".join(sys.argv[1:])))
    except RevisionRefused as refused:
        sys.exit(str(refused))
