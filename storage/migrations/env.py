"""Alembic's entry point: runs the revisions on the connection that `storage.migrations.run` passes in."""

from alembic import context

from storage.searching.texts import is_declared
from storage.tables.registry import METADATA

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=METADATA,
    render_as_batch=True,
    compare_type=True,
    include_name=is_declared,
    # On PostgreSQL; in the transaction that SQLite has begun before, there are no others.
    transaction_per_migration=True,
    tell=context.config.attributes["tell"],
)
with context.begin_transaction():
    context.run_migrations()
