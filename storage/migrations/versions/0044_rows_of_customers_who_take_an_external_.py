"""Rows of customers who take an external id late."""

import sqlalchemy as sa
from alembic import op

from storage.migrations import online

revision = '0044'
down_revision = '0043'
branch_labels = None
depends_on = None

UNCLAIMED = 'customer_id IS NULL AND external_customer_id IS NOT NULL'


def upgrade() -> None:
    online.add_columns(
        'external_persons',
        sa.Column('customer_id', sa.Uuid(), nullable=True),
        sa.Column('unclaimed', sa.Integer(), nullable=True),
    )
    online.create_index(
        'ix_external_persons_unclaimed', 'external_persons', ['workspace_id', 'external_id'],
        where='unclaimed IS NOT NULL',
    )
    online.create_index(
        'ix_file_share_sessions_unclaimed', 'file_share_sessions', ['workspace_id', 'external_customer_id'],
        where=UNCLAIMED,
    )
    holder = (
        'FROM customers WHERE customers.workspace_id = external_persons.workspace_id '
        'AND customers.external_id = external_persons.external_id AND customers.deleted_at IS NULL'
    )
    online.fill(
        'external_persons', {'customer_id': f'(SELECT customers.id {holder})'},
        f'customer_id IS NULL AND EXISTS (SELECT 1 {holder})',
    )
    for table in ('file_share_sessions', 'events'):
        # A freed id may have rows of the person who had it before.
        person = (
            f'coalesce((SELECT merged."into" FROM person_merges AS merged WHERE merged.workspace_id = {table}.workspace_id '
            f'AND merged.absorbed = {table}.person), {table}.person)'
        )
        owner = (
            f'FROM customers WHERE customers.workspace_id = {table}.workspace_id '
            f'AND customers.external_id = {table}.external_customer_id AND customers.deleted_at IS NULL '
            f'AND customers.person = {person}'
        )
        online.fill(
            table, {'customer_id': f'(SELECT customers.id {owner})'},
            f'{UNCLAIMED} AND EXISTS (SELECT 1 {owner})',
        )
    for table in ('file_share_downloads', 'file_share_payments', 'file_share_refunds'):
        session = (
            f'FROM file_share_sessions AS session WHERE session.workspace_id = {table}.workspace_id '
            f'AND session.id = {table}.file_share_session_id AND session.customer_id IS NOT NULL'
        )
        online.fill(
            table, {'customer_id': f'(SELECT session.customer_id {session})'},
            f'customer_id IS NULL AND person IS NOT NULL AND EXISTS (SELECT 1 {session})',
        )
    online.count_again(revision)


def downgrade() -> None:
    with op.batch_alter_table('file_share_sessions', schema=None) as batch_op:
        batch_op.drop_index('ix_file_share_sessions_unclaimed')
    with op.batch_alter_table('external_persons', schema=None) as batch_op:
        batch_op.drop_index('ix_external_persons_unclaimed')
        batch_op.drop_column('unclaimed')
        batch_op.drop_column('customer_id')
