"""The statements of the floor, each written for its one request.

Lists lack their limit, which is appended as a literal: with a parameter, PostgreSQL would plan for a tenth of
the table, and take three times as long for the list of events.
"""

from collections.abc import Sequence

TOKEN = """
SELECT workspace_id, id FROM credentials
WHERE hash = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now()) AND scopes::jsonb ? $2
"""

_PRICE = """json_build_object(
    'id', price.id, 'created_at', price.created_at, 'modified_at', price.modified_at,
    'amount_type', price.amount_type, 'is_archived', price.is_archived, 'share_id', price.share_id,
    'price_amount', price.price_amount, 'price_currency', price.price_currency,
    'minimum_amount', price.minimum_amount, 'maximum_amount', price.maximum_amount,
    'preset_amount', price.preset_amount)"""
# The floor serves shares without files; the gateway derives the size's text and the public URL.
_MEDIA = "to_json(file)"
_PROPERTY_NAMES = "form_label form_help_text form_placeholder textarea min_length max_length options"
_PROPERTIES = ", ".join(f"'{name}', field.properties::json -> '{name}'" for name in _PROPERTY_NAMES.split())
_FIELD = f"""json_build_object('custom_field_id', field.id, 'order', attached.position,
    'required', attached.required, 'custom_field', json_build_object(
        'id', field.id, 'created_at', field.created_at, 'modified_at', field.modified_at,
        'metadata', field.metadata::json, 'type', field.type, 'slug', field.slug, 'name', field.name,
        'workspace_id', field.workspace_id, 'properties', json_build_object({_PROPERTIES})))"""
SHARES = f"""
SELECT share.id::text, share.created_at, share.modified_at, share.name, share.description,
    share.visibility, share.is_archived, share.workspace_id::text, share.metadata,
    (SELECT coalesce(json_agg({_PRICE} ORDER BY price.created_at, price.id), '[]')
     FROM share_prices price WHERE price.workspace_id = share.workspace_id
        AND price.share_id = share.id AND NOT price.is_archived) AS prices,
    (SELECT coalesce(json_agg({_MEDIA} ORDER BY media.position), '[]')
     FROM share_medias media JOIN files file
        ON file.workspace_id = media.workspace_id AND file.id = media.file_id
     WHERE media.workspace_id = share.workspace_id AND media.share_id = share.id) AS medias,
    (SELECT coalesce(json_agg({_MEDIA} ORDER BY listed.position), '[]')
     FROM share_downloads listed JOIN files file
        ON file.workspace_id = listed.workspace_id AND file.id = listed.file_id
     WHERE listed.workspace_id = share.workspace_id AND listed.share_id = share.id) AS downloads,
    (SELECT coalesce(json_agg({_FIELD} ORDER BY attached.position), '[]')
     FROM share_custom_fields attached JOIN custom_fields field
        ON field.workspace_id = attached.workspace_id AND field.id = attached.custom_field_id
     WHERE attached.workspace_id = share.workspace_id AND attached.share_id = share.id
    ) AS attached_custom_fields
FROM shares share WHERE share.workspace_id = $1
ORDER BY share.created_at DESC, share.id DESC
"""
TOTAL_OF_SHARES = "SELECT count(*) FROM shares WHERE workspace_id = $1"

_OF_CUSTOMERS = (
    "id created_at modified_at external_id email email_verified name billing_address workspace_id type"
    " metadata deleted_at"
)
_OF_EVENTS = (
    "id timestamp workspace_id customer_id external_customer_id source name metadata member_id"
    " external_member_id parent_id external_id cost_amount cost_parts cost_currency child_count"
)
CUSTOMER_FIELDS, EVENT_FIELDS = _OF_CUSTOMERS.split(), _OF_EVENTS.split()
_UUIDS = {"id", "workspace_id", "customer_id", "member_id", "parent_id"}


def _columns(alias: str, fields: Sequence[str]) -> str:
    """The columns of these fields; ids as text, because orjson does not write asyncpg's UUIDs."""
    return ", ".join(f"{alias}.{name}{'::text' if name in _UUIDS else ''}" for name in fields)


CUSTOMER = f"""
SELECT {_columns("customer", CUSTOMER_FIELDS)},
    (SELECT coalesce(json_agg(json_build_object(
        'id', member.id, 'created_at', member.created_at, 'modified_at', member.modified_at,
        'customer_id', member.customer_id, 'email', member.email, 'name', member.name,
        'external_id', member.external_id, 'role', member.role) ORDER BY member.created_at, member.id), '[]')
     FROM members member WHERE member.workspace_id = customer.workspace_id
        AND member.customer_id = customer.id AND member.deleted_at IS NULL) AS members
FROM customers customer
WHERE customer.workspace_id = $1 AND customer.id = $2 AND customer.deleted_at IS NULL
"""

EVENTS = f"""
SELECT {_columns("event", EVENT_FIELDS[:-1])},
    (SELECT count(*) FROM events child
     WHERE child.workspace_id = event.workspace_id AND child.parent_id = event.id) AS child_count,
    {_columns("customer", CUSTOMER_FIELDS)}
FROM events event LEFT JOIN customers customer
    ON customer.workspace_id = event.workspace_id AND customer.id = event.customer_id
WHERE event.workspace_id = $1
ORDER BY event.timestamp DESC, event.id DESC
"""
# What is kept, and the changes that wait to be added.
TOTAL_OF_EVENTS = """
SELECT sum(kept.total)::bigint FROM (
    SELECT total FROM list_totals WHERE workspace_id = $1 AND list = 'events' AND value = ''
    UNION ALL
    SELECT total FROM list_total_deltas WHERE workspace_id = $1 AND list = 'events' AND value = '') kept
"""

# What a new customer writes: itself, its owner and the event.
NEW_CUSTOMER = """
INSERT INTO customers (created_at, changed_at, workspace_id, id, email, email_folded, email_verified, name,
    name_folded, billing_address, type, metadata)
VALUES ($1, $1, $2, $3, $4, $5, false, $6, $7, $8, 'individual', '{}')
"""
NEW_MEMBER = """
INSERT INTO members (created_at, changed_at, workspace_id, id, customer_id, email, email_folded,
    email_unconfirmed, name, role)
VALUES ($1, $1, $2, $3, $4, $5, $6, false, $7, 'owner')
"""
NEW_EVENT = """
INSERT INTO events (created_at, timestamp, workspace_id, id, source, name, customer_id, metadata)
VALUES ($1, $1, $2, $3, 'system', 'customer.created', $4, $5)
"""

# What ingested events write: themselves, their facts, and the delta that the fold adds to the cells.
NEW_EVENTS = """
INSERT INTO events (created_at, timestamp, workspace_id, id, source, name, metadata)
SELECT $1, $1, $2, new.id, 'user', new.name, '{}' FROM unnest($3::uuid[], $4::text[]) AS new(id, name)
"""
NEW_FACTS = """
INSERT INTO metric_facts (workspace_id, id, kind, moment, count, bytes, amount, fee, parts)
SELECT $1, unnest($2::uuid[]), 'event', $3, 1, 0, 0, 0, 0
"""
NEW_DELTA = """
INSERT INTO metric_deltas (workspace_id, id, kind, moment, count, bytes, amount, fee, parts)
VALUES ($1, $2, 'event', $3, $4, 0, 0, 0, 0)
"""

# What both write: the changes, which the fold numbers, and the deltas that it adds to totals.
NEW_CHANGES = """
INSERT INTO changes (workspace_id, id, kind, resource_id, at, actor_kind, actor_id, count, measured_from)
SELECT $1, new.id, new.kind, new.resource_id, statement_timestamp(), 'workspace_token', $2, $3, $7
FROM unnest($4::uuid[], $5::text[], $6::uuid[]) AS new(id, kind, resource_id)
"""
NEW_TOTALS = """
INSERT INTO list_total_deltas (workspace_id, id, list, value, total)
SELECT $1, $2, new.list, new.value, new.total
FROM unnest($3::text[], $4::text[], $5::bigint[]) AS new(list, value, total)
"""
NEW_NAMES = """
INSERT INTO event_deltas (workspace_id, id, source, name, hour, occurrences, first_seen, last_seen)
SELECT $1, $2, $3, new.name, date_trunc('hour', $4::timestamptz, 'UTC'), new.occurrences, $4, $4
FROM unnest($5::text[], $6::bigint[]) AS new(name, occurrences)
"""
