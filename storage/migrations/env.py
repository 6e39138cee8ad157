"""Alembic's entry point: runs the revisions on the connection that `storage.migrations.run` passes in."""

from alembic import context

from storage.tables.registry import METADATA

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=METADATA, render_as_batch=True, compare_type=True)
with context.begin_transaction():
    context.run_migrations()
