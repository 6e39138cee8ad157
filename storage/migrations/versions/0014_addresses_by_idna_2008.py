"""Addresses are the same by ASCII case, NFC and IDNA 2008, no longer by Unicode's case folding."""

import logging
import unicodedata

import sqlalchemy as sa
from alembic import op

from storage.emails import ascii_domain, fold_email

revision = '0014'
down_revision = '0013'
branch_labels = None
depends_on = None

COLUMNS = ('email', 'email_folded', 'created_at', 'deleted_at', 'email_verified', 'email_verified_at', 'role')
IDS = ('id', 'workspace_id', 'customer_id', 'user_id')
# What the unique rule of each table adds to the address.
SCOPES = {
    'users': (),
    'workspace_members': ('workspace_id',),
    'customers': ('workspace_id',),
    'members': ('workspace_id', 'customer_id'),
}
LINKS = sa.table('mailed_links', sa.column('user_id', sa.Uuid()), sa.column('recipient'))

log = logging.getLogger('alembic.runtime.migration')


def upgrade() -> None:
    for name, scope in SCOPES.items():
        fold_again(op.get_bind(), name, scope)


def fold_again(connection: sa.Connection, name: str, scope: tuple[str, ...]) -> None:
    """Fold the addresses that can differ from what they were: those beyond ASCII, and encoded domains.

    Where two rows of one scope now have the same address, the one that was proved or in use first has it. The
    others stay with all they have, under a folded text that no address has, until their address is changed.
    """
    ids = [sa.column(each, sa.Uuid()) for each in IDS]
    table = sa.table(name, *ids, *(sa.column(each) for each in COLUMNS))
    found = connection.execute(
        sa.text(f'SELECT * FROM {name} WHERE {beyond_ascii(connection)}').columns(**dict.fromkeys(IDS, sa.Uuid()))
    ).mappings().all()
    # Out of the way first: one row may take what another one still has.
    for row in found:
        write(connection, table, row['id'], email_folded=f'{row["email_folded"]} {row["id"]}')
    for row in sorted(found, key=by_claim):
        folded = fold_email(row['email'])
        if row.get('deleted_at') is None and is_taken(connection, table, row, scope, folded):
            log.warning('another row of %s has the address of %s: change one of them', name, row['id'])
            folded = f'{folded} {row["id"]}'
        values = {'email': unicodedata.normalize('NFC', row['email']), 'email_folded': folded}
        write(connection, table, row['id'], **values, **unproved(name, row['email']))
        if name == 'users':
            same = (LINKS.c.user_id == row['id']) & (LINKS.c.recipient == row['email_folded'])
            connection.execute(sa.update(LINKS).where(same).values(recipient=folded))


def beyond_ascii(connection: sa.Connection) -> str:
    octets = 'octet_length(email)' if connection.dialect.name == 'postgresql' else 'length(CAST(email AS BLOB))'
    return f"{octets} <> length(email) OR email_folded LIKE '%xn--%'"


def by_claim(row: sa.RowMapping) -> tuple:
    is_proved = row.get('email_verified_at') or row.get('user_id') or row.get('role') == 'owner'
    return (not is_proved, str(row['created_at']), str(row['id']))


def is_taken(connection: sa.Connection, table: sa.TableClause, row: sa.RowMapping, scope: tuple, folded: str) -> bool:
    same = [table.c.email_folded == folded, *(table.c[column] == row[column] for column in scope)]
    if 'deleted_at' in row:
        same.append(table.c.deleted_at.is_(None))
    return connection.execute(sa.select(table.c.id).where(*same)).first() is not None


def unproved(name: str, email: str) -> dict[str, object]:
    """What the row no longer says where mail went to another mailbox than it does from now on."""
    domain = email.rpartition('@')[2]
    try:
        is_same = domain.encode('idna').decode() == ascii_domain(domain)
    except ValueError:
        is_same = False
    if is_same and unicodedata.is_normalized('NFC', email):
        return {}
    return {'users': {'email_verified_at': None}, 'customers': {'email_verified': False}}.get(name, {})


def write(connection: sa.Connection, table: sa.TableClause, id, **values: object) -> None:
    connection.execute(sa.update(table).where(table.c.id == id).values(values))


def downgrade() -> None:
    """Addresses stay as they are: the rules of before would find them alike by case."""
