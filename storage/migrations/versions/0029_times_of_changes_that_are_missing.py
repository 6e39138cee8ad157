"""Times of changes that are missing: of payments with refunds, and of rows that an older process inserted."""

import sqlalchemy as sa
from alembic import op

from storage.migrations import online

revision = '0029'
down_revision = '0028'
branch_labels = None
depends_on = None

CHANGED = (
    'custom_fields',
    'customers',
    'file_share_payments',
    'file_share_sessions',
    'files',
    'members',
    'shares',
    'workspace_members',
    'workspaces',
)
NEVER = "'1970-01-01 00:00:00.000000'"


def upgrade() -> None:
    # First, so that no row of an older process is missed.
    set_default('CURRENT_TIMESTAMP')
    of_payment = (
        'FROM file_share_refunds WHERE file_share_refunds.workspace_id = file_share_payments.workspace_id'
        ' AND file_share_refunds.file_share_payment_id = file_share_payments.id'
    )
    newest = f'(SELECT MAX(file_share_refunds.created_at) {of_payment})'
    times = {'modified_at': newest, 'changed_at': newest}
    online.fill('file_share_payments', times, f'modified_at IS NULL AND EXISTS (SELECT 1 {of_payment})')
    changed = {'changed_at': 'COALESCE(modified_at, created_at)'}
    for table in CHANGED:
        online.fill(table, changed, f'changed_at = {NEVER}')


def set_default(default: str) -> None:
    """SQLite would have to write each table anew for another default."""
    if op.get_bind().dialect.name == 'postgresql':
        for table in CHANGED:
            op.alter_column(table, 'changed_at', server_default=sa.text(default))
            online.commit()


def downgrade() -> None:
    set_default(NEVER)
