"""The tables of revision 0012, the oldest that is upgraded: what revisions 0001 to 0012 led to.

A column is its name and type, with a question mark if it may be null. A reference leads to a table's primary
key.
"""

from functools import partial

import sqlalchemy as sa
from alembic import op

from storage.types import CodePointText, JsonColumn, MomentColumn

revision = '0012'
down_revision = None
branch_labels = None
depends_on = None

TYPES = {
    'bigint': sa.BigInteger,
    'boolean': sa.Boolean,
    'bytes': sa.LargeBinary,
    'integer': sa.Integer,
    'json': JsonColumn,
    'moment': partial(MomentColumn, timezone=True),
    'points': CodePointText,
    'text': sa.String,
    'uuid': sa.Uuid,
}


def column(text: str) -> sa.Column:
    name, kind = text.split()
    return sa.Column(name, TYPES[kind.removesuffix('?')](), nullable=kind.endswith('?'))


def reference(table: str, text: str) -> sa.ForeignKeyConstraint:
    columns, target, *ondelete = text.split(' -> ')
    names = columns.split()
    targets = [f'{target}.id'] if len(names) == 1 else [f'{target}.workspace_id', f'{target}.id']
    name = op.f('_'.join(['fk', table, *names, target]))
    return sa.ForeignKeyConstraint(names, targets, name=name, ondelete=ondelete[0] if ondelete else None)


def create(table: str, columns: str, key: str, *references: str, unique: str = '', by_key: bool = False) -> None:
    """With `by_key`, SQLite stores the rows in the order of the key."""
    op.create_table(
        table,
        *map(column, columns.split(',')),
        sa.PrimaryKeyConstraint(*key.split(), name=op.f(f'pk_{table}')),
        *(reference(table, each) for each in references),
        *([sa.UniqueConstraint(*unique.split(), name=op.f('_'.join(['uq', table, *unique.split()])))] if unique else []),
        sqlite_with_rowid=not by_key,
    )


def index(name: str, table: str, columns: str, *, unique: bool = False, where: str | None = None) -> None:
    condition = None if where is None else sa.text(where)
    op.create_index(name, table, columns.split(), unique=unique, sqlite_where=condition, postgresql_where=condition)


def upgrade() -> None:
    create('idempotency_keys', '''
        created_at moment, subject text, operation text, key text, digest text, status integer?,
        resource_id uuid?, answer json?, sealed text?
    ''', 'subject operation key')
    create('users', '''
        created_at moment, id uuid, modified_at moment?, email text, email_folded points, name text?,
        password_hash text, email_verified_at moment?
    ''', 'id', unique='email_folded')
    create('workspaces', '''
        created_at moment, id uuid, modified_at moment?, name text, name_folded points, slug points,
        avatar_url text?, email text?, website text?, socials json, status text,
        status_changed_at moment, details json, details_submitted_at moment?,
        default_presentment_currency text, feature_settings json, notification_settings json,
        customer_email_settings json, customer_portal_settings json, next_review_threshold integer?,
        requests_per_minute integer?
    ''', 'id', unique='slug')
    create('oauth_clients', '''
        created_at moment, id uuid, modified_at moment?, deleted_at moment?, client_id points,
        workspace_id uuid?, user_id uuid?, name text, redirect_uris json, scopes json,
        token_endpoint_auth_method text, client_uri text?, policy_uri text?, tos_uri text?
    ''', 'id', 'user_id -> users', 'workspace_id -> workspaces', unique='client_id')
    index('ix_oauth_clients_user_id', 'oauth_clients', 'user_id')
    index('ix_oauth_clients_workspace_id', 'oauth_clients', 'workspace_id')
    create('oauth_grants', '''
        created_at moment, id uuid, modified_at moment?, revoked_at moment?, oauth_client_id uuid,
        user_id uuid, workspace_id uuid?, scopes json, redirect_uri text, code_challenge text?,
        nonce text?, authenticated_at moment
    ''', 'id', 'oauth_client_id -> oauth_clients', 'user_id -> users', 'workspace_id -> workspaces')
    index('ix_oauth_grants_oauth_client_id', 'oauth_grants', 'oauth_client_id')
    index('ix_oauth_grants_user_id', 'oauth_grants', 'user_id')
    index('ix_oauth_grants_workspace_id', 'oauth_grants', 'workspace_id')
    create('credentials', '''
        created_at moment, hash text, id uuid, modified_at moment?, kind text, workspace_id uuid?,
        user_id uuid?, maker_user_id uuid?, customer_id uuid?, member_id uuid?, scopes json,
        comment text, expires_at moment?, revoked_at moment?, last_used_at moment?,
        oauth_client_id uuid?, grant_id uuid?, user_agent text?, address text?
    ''', 'hash', 'maker_user_id -> users', 'user_id -> users', 'workspace_id -> workspaces', 'grant_id -> oauth_grants', 'oauth_client_id -> oauth_clients', unique='id')
    index('ix_credentials_customer_id', 'credentials', 'customer_id')
    index('ix_credentials_user', 'credentials', 'user_id kind created_at')
    index('ix_credentials_workspace', 'credentials', 'workspace_id kind created_at')
    index('ix_credentials_grant_id', 'credentials', 'grant_id')
    index('ix_credentials_oauth_client_id', 'credentials', 'oauth_client_id')
    create('custom_fields', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, type text, slug points,
        name text, metadata json, properties json
    ''', 'workspace_id id', 'workspace_id -> workspaces', unique='workspace_id slug')
    create('customers', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, deleted_at moment?,
        external_id points?, email text, email_folded points, email_verified boolean, name text?,
        name_folded points?, billing_address json, type text?, metadata json, person integer?
    ''', 'workspace_id id', 'workspace_id -> workspaces')
    index('ix_customers_created_at', 'customers', 'workspace_id created_at id')
    index('ix_customers_name', 'customers', 'workspace_id name_folded id')
    index('uq_customers_email', 'customers', 'workspace_id email_folded', unique=True, where='deleted_at IS NULL')
    index('uq_customers_external_id', 'customers', 'workspace_id external_id', unique=True, where='deleted_at IS NULL')
    create('files', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, name text,
        name_folded points, path text, mime_type text, size bigint, service text, version text?,
        is_uploaded boolean, upload_id text, storage_version text?, checksum_etag text?,
        checksum_sha256_base64 text?, checksum_sha256_hex text?, last_modified_at moment?
    ''', 'workspace_id id', 'workspace_id -> workspaces')
    index('ix_files_created_at', 'files', 'workspace_id created_at id')
    index('ix_files_name', 'files', 'workspace_id name_folded id')
    index('ix_files_size', 'files', 'workspace_id size id')
    index('ix_files_unfinished', 'files', 'created_at', where='NOT is_uploaded')
    create('shares', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, name text,
        name_folded points, description text?, visibility text, is_archived boolean,
        price_amount integer?, metadata json
    ''', 'workspace_id id', 'workspace_id -> workspaces')
    index('ix_shares_created_at', 'shares', 'workspace_id created_at id')
    index('ix_shares_name', 'shares', 'workspace_id name_folded id')
    index('ix_shares_price_amount', 'shares', 'workspace_id price_amount id')
    create('workspace_members', '''
        created_at moment, id uuid, workspace_id uuid, user_id uuid?, email text, email_folded points
    ''', 'id', 'user_id -> users', 'workspace_id -> workspaces', unique='workspace_id email_folded')
    index('ix_workspace_members_user_id', 'workspace_members', 'user_id')
    create('events', '''
        created_at moment, workspace_id uuid, id uuid, timestamp moment, external_id points?,
        source text, name points, customer_id uuid?, external_customer_id points?, member_id uuid?,
        external_member_id text?, parent_id uuid?, metadata json, share_id uuid?, person integer?,
        cost_currency text?, cost_amount bigint?, cost_parts bigint?
    ''', 'workspace_id id', 'workspace_id customer_id -> customers', 'workspace_id parent_id -> events', 'workspace_id -> workspaces', 'workspace_id share_id -> shares')
    index('ix_events_customer', 'events', 'workspace_id customer_id timestamp id')
    index('ix_events_external_customer', 'events', 'workspace_id external_customer_id timestamp id')
    index('ix_events_name', 'events', 'workspace_id name timestamp id')
    index('ix_events_parent', 'events', 'workspace_id parent_id timestamp id')
    index('ix_events_timestamp', 'events', 'workspace_id timestamp id')
    index('uq_events_external_id', 'events', 'workspace_id external_id', unique=True)
    create('file_parts', '''
        workspace_id uuid, file_id uuid, number integer, chunk_start bigint, chunk_end bigint,
        checksum_sha256_base64 text?
    ''', 'workspace_id file_id number', 'workspace_id file_id -> files -> CASCADE')
    create('members', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, deleted_at moment?,
        customer_id uuid, email text, email_folded points, name text?, external_id points?, role text
    ''', 'workspace_id id', 'workspace_id customer_id -> customers', 'workspace_id -> workspaces')
    index('ix_members_created_at', 'members', 'workspace_id created_at id')
    index('ix_members_customer', 'members', 'workspace_id customer_id created_at id')
    index('uq_members_email', 'members', 'workspace_id customer_id email_folded', unique=True, where='deleted_at IS NULL')
    index('uq_members_external_id', 'members', 'workspace_id customer_id external_id', unique=True, where='deleted_at IS NULL')
    index('uq_members_owner', 'members', 'workspace_id customer_id', unique=True, where="role = 'owner' AND deleted_at IS NULL")
    index('ix_members_email', 'members', 'workspace_id email_folded')
    create('share_custom_fields', '''
        workspace_id uuid, share_id uuid, custom_field_id uuid, position integer, required boolean
    ''', 'workspace_id share_id custom_field_id', 'workspace_id custom_field_id -> custom_fields -> CASCADE', 'workspace_id share_id -> shares')
    index('ix_share_custom_fields_custom_field', 'share_custom_fields', 'workspace_id custom_field_id')
    create('share_medias', '''
        workspace_id uuid, share_id uuid, file_id uuid, position integer
    ''', 'workspace_id share_id file_id', 'workspace_id file_id -> files -> CASCADE', 'workspace_id share_id -> shares')
    index('ix_share_medias_file', 'share_medias', 'workspace_id file_id')
    create('share_prices', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, share_id uuid,
        amount_type text, is_archived boolean, price_amount integer?, price_currency text?,
        minimum_amount integer?, maximum_amount integer?, preset_amount integer?
    ''', 'workspace_id id', 'workspace_id share_id -> shares', 'workspace_id -> workspaces')
    index('ix_share_prices_share', 'share_prices', 'workspace_id share_id')
    create('customer_sessions', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, customer_id uuid,
        member_id uuid?, return_url text?, expires_at moment
    ''', 'workspace_id id', 'workspace_id customer_id -> customers', 'workspace_id member_id -> members', 'workspace_id -> workspaces')
    index('ix_customer_sessions_customer', 'customer_sessions', 'workspace_id customer_id')
    create('external_persons', '''
        workspace_id uuid, external_id points, person integer
    ''', 'workspace_id external_id', 'workspace_id -> workspaces')
    create('metric_facts', '''
        workspace_id uuid, id uuid, moment bigint, kind text, share_id uuid?, person integer?,
        currency text?, count integer, bytes bigint, amount bigint, fee bigint, parts bigint
    ''', 'workspace_id id', 'workspace_id -> workspaces')
    index('ix_metric_facts_moment', 'metric_facts', 'workspace_id moment')
    index('ix_metric_facts_share', 'metric_facts', 'workspace_id share_id kind moment person')
    index('ix_metric_facts_person', 'metric_facts', 'workspace_id person kind moment currency count bytes amount fee parts')
    create('person_counters', '''
        workspace_id uuid, next_person integer
    ''', 'workspace_id', 'workspace_id -> workspaces')
    create('person_merges', '''
        workspace_id uuid, absorbed integer, into integer
    ''', 'workspace_id absorbed', 'workspace_id -> workspaces')
    index('ix_person_merges_into', 'person_merges', 'workspace_id into')
    create('file_share_sessions', '''
        created_at moment, workspace_id uuid, id uuid, modified_at moment?, external_id points?,
        share_id uuid?, customer_id uuid?, external_customer_id points?, person integer?, status text,
        price_amount integer?, price_currency text?, file_size_bytes bigint, download_count integer,
        first_download_at moment?, last_download_at moment?, ended_at moment?, is_converted boolean
    ''', 'workspace_id id', 'workspace_id customer_id -> customers', 'workspace_id share_id -> shares', 'workspace_id -> workspaces')
    index('ix_file_share_sessions_created_at', 'file_share_sessions', 'workspace_id created_at id')
    index('ix_file_share_sessions_customer', 'file_share_sessions', 'workspace_id customer_id created_at id')
    index('ix_file_share_sessions_share', 'file_share_sessions', 'workspace_id share_id created_at id')
    index('uq_file_share_sessions_external_id', 'file_share_sessions', 'workspace_id external_id', unique=True)
    create('file_share_downloads', '''
        created_at moment, workspace_id uuid, id uuid, file_share_session_id uuid, external_id points?,
        at moment
    ''', 'workspace_id id', 'workspace_id file_share_session_id -> file_share_sessions', 'workspace_id -> workspaces')
    index('ix_file_share_downloads_session', 'file_share_downloads', 'workspace_id file_share_session_id')
    index('uq_file_share_downloads_external_id', 'file_share_downloads', 'workspace_id external_id', unique=True)
    create('file_share_payments', '''
        created_at moment, workspace_id uuid, id uuid, file_share_session_id uuid, external_id points?,
        amount integer, platform_fee integer, currency text, at moment, refunded_amount integer,
        refunded_fee integer
    ''', 'workspace_id id', 'workspace_id file_share_session_id -> file_share_sessions', 'workspace_id -> workspaces')
    index('ix_file_share_payments_session', 'file_share_payments', 'workspace_id file_share_session_id')
    index('uq_file_share_payments_external_id', 'file_share_payments', 'workspace_id external_id', unique=True)
    create('file_share_refunds', '''
        created_at moment, workspace_id uuid, id uuid, file_share_payment_id uuid, external_id points?,
        amount integer, platform_fee integer, at moment
    ''', 'workspace_id id', 'workspace_id file_share_payment_id -> file_share_payments', 'workspace_id -> workspaces')
    index('ix_file_share_refunds_payment', 'file_share_refunds', 'workspace_id file_share_payment_id')
    index('uq_file_share_refunds_external_id', 'file_share_refunds', 'workspace_id external_id', unique=True)
    create('mails', '''
        created_at moment, id uuid, workspace_id uuid?, recipient text, subject text, text text,
        html text?, due_at moment, attempts integer
    ''', 'id', 'workspace_id -> workspaces')
    index('ix_mails_due_at', 'mails', 'due_at')
    index('ix_mails_workspace_id', 'mails', 'workspace_id')
    create('metric_activity_cells', '''
        workspace_id uuid, share_id uuid, grain integer, at bigint, free_session_count bigint,
        free_session_bytes_high bigint, free_session_bytes_low bigint, priced_session_count bigint,
        priced_session_bytes_high bigint, priced_session_bytes_low bigint, conversion_count bigint,
        download_count bigint, activation_count bigint, deactivation_count bigint,
        completion_count bigint, expiry_count bigint, event_count bigint
    ''', 'workspace_id share_id grain at', 'workspace_id -> workspaces', by_key=True)
    create('metric_deltas', '''
        workspace_id uuid, id uuid, moment bigint, kind text, share_id uuid?, person integer?,
        currency text?, count integer, bytes bigint, amount bigint, fee bigint, parts bigint
    ''', 'workspace_id id', 'workspace_id -> workspaces', by_key=True)
    create('metric_money_cells', '''
        workspace_id uuid, share_id uuid, currency text, grain integer, at bigint,
        priced_session_count bigint, priced_session_amount bigint, payment_count bigint,
        payment_amount bigint, payment_fee bigint, refund_count bigint, refund_amount bigint,
        refund_fee bigint, cost_count bigint, cost_amount_high bigint, cost_amount_low bigint,
        cost_parts_high bigint, cost_parts_low bigint
    ''', 'workspace_id share_id currency grain at', 'workspace_id -> workspaces', by_key=True)
    create('metric_person_cells', '''
        workspace_id uuid, grain integer, at bigint, persons bytes, many integer
    ''', 'workspace_id grain at', 'workspace_id -> workspaces')
    create('person_merge_deltas', '''
        workspace_id uuid, absorbed integer, until bigint?
    ''', 'workspace_id absorbed', 'workspace_id -> workspaces')
    create('signing_keys', '''
        created_at moment, id uuid, kid text, public_key json, private_key text, retired_at moment?
    ''', 'id', unique='kid')
    create('oauth_consents', '''
        created_at moment, id uuid, modified_at moment?, oauth_client_id uuid, user_id uuid,
        workspace_id uuid?, reach text, scopes json
    ''', 'id', 'oauth_client_id -> oauth_clients', 'user_id -> users', 'workspace_id -> workspaces', unique='user_id oauth_client_id reach')
    index('ix_oauth_consents_oauth_client_id', 'oauth_consents', 'oauth_client_id')
    index('ix_oauth_consents_workspace_id', 'oauth_consents', 'workspace_id')
    create('portal_codes', '''
        created_at moment, workspace_id uuid, id uuid, recipient text, hash text, customer_id uuid?,
        member_id uuid?, tries integer, expires_at moment, used_at moment?
    ''', 'workspace_id id', 'workspace_id customer_id -> customers', 'workspace_id member_id -> members', 'workspace_id -> workspaces')
    index('ix_portal_codes_customer', 'portal_codes', 'workspace_id customer_id')
    index('ix_portal_codes_recipient', 'portal_codes', 'workspace_id recipient created_at')
    create('discarded_objects', '''
        created_at moment, workspace_id uuid, id uuid, path text, upload_id text
    ''', 'workspace_id id', 'workspace_id -> workspaces')
    index('ix_discarded_objects_created_at', 'discarded_objects', 'created_at')
    create('mailed_links', '''
        created_at moment, id uuid, user_id uuid, purpose text, recipient text, hash text,
        expires_at moment, used_at moment?, ended_at moment?
    ''', 'id', 'user_id -> users', unique='hash')
    index('ix_mailed_links_user', 'mailed_links', 'user_id purpose created_at')


def downgrade() -> None:
    tables = sa.MetaData()
    tables.reflect(op.get_bind(), only=lambda name, _: name != 'alembic_version')
    tables.drop_all(op.get_bind())
