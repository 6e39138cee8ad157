"""Anonymization of a deleted customer: personal data in its rows and its events."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import and_, bindparam, or_, select, update

from resolvers.customers.conditions import of_customers
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import every, measure_change, table_of, update_row, update_rows
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.events.events import EventRow

EMAIL = "anonymized@anonymized.invalid"
TEXT = "anonymized"
ROWS_AT_A_TIME = 500

_events = table_of(EventRow)
# Personal data in the service's own events, by key. It may be older than the customer's row.
_PERSONAL_KEYS = {"customer_email": EMAIL, "customer_name": TEXT}


async def anonymize_customer(connection: Connection, customer: CustomerRow) -> None:
    """Overwrite the customer, its members and its events' metadata; `customer` is the row before that."""
    key = (customer.workspace_id, customer.id)
    own_members = of_customers([key])
    personal_texts = _personal_texts(customer, await every(connection, MemberRow, own_members))
    await update_row(
        connection,
        CustomerRow,
        customer,
        email=EMAIL,
        email_verified=False,
        name=None,
        billing_address={},
        metadata={},
    )
    await update_rows(connection, MemberRow, own_members, email=EMAIL, name=None)
    await _anonymize_events(connection, customer, personal_texts)


async def _anonymize_events(connection: Connection, customer: CustomerRow, texts: set[str]) -> None:
    of_customer = _events.c.customer_id == customer.id
    if customer.external_id is not None:
        of_customer = or_(of_customer, _events.c.external_customer_id == customer.external_id)
    statement = (
        select(_events.c.id, _events.c.metadata)
        .where(_events.c.workspace_id == customer.workspace_id, of_customer, _events.c.metadata != {})
        .order_by(_events.c.id)
        .limit(ROWS_AT_A_TIME)
    )
    change = (
        update(_events)
        .where(_events.c.workspace_id == customer.workspace_id, _events.c.id == bindparam("event_id"))
        # A change like any other for callers that keep a copy.
        .values(metadata=bindparam("anonymized"), created_at=bindparam("moment"))
    )
    texts |= await _earlier_texts(connection, customer)
    last: UUID | None = None
    while True:
        page = statement if last is None else statement.where(_events.c.id > last)
        rows = (await connection.execute(page)).all()
        if not rows:
            return
        moment = now()
        changed = []
        for id, metadata in rows:
            if (anonymized := _anonymize(metadata, texts)) != metadata:
                changed.append({"event_id": id, "anonymized": anonymized, "moment": moment})
                before = {"workspace_id": customer.workspace_id, "metadata": metadata}
                measure_change(connection, EventRow, before, {"metadata": anonymized})
        if changed:
            await connection.execute(change, changed)
        last = rows[-1].id


async def _earlier_texts(connection: Connection, customer: CustomerRow) -> set[str]:
    """The folded email and name that the customer was created with."""
    created = and_(
        _events.c.workspace_id == customer.workspace_id,
        _events.c.customer_id == customer.id,
        _events.c.name == "customer.created",
    )
    metadata_of_events = (await connection.execute(select(_events.c.metadata).where(created))).scalars()
    return {
        text.strip().casefold()
        for metadata in metadata_of_events
        for name in _PERSONAL_KEYS
        if (text := metadata.get(name))
    }


def _personal_texts(customer: CustomerRow, members: Sequence[MemberRow]) -> set[str]:
    """Folded texts that identify a person; a city or a postal code alone does not."""
    address = customer.billing_address
    texts = [customer.email, customer.name, address.get("line1"), address.get("line2")]
    for member in members:
        texts += [member.email, member.name]
    return {folded for text in texts if text and (folded := text.strip().casefold())}


def _anonymize(metadata: dict[str, Any], texts: set[str]) -> dict[str, Any]:
    addresses = [text for text in texts if "@" in text]
    return {key: _anonymize_value(key, value, texts, addresses) for key, value in metadata.items()}


def _anonymize_value(key: str, value: Any, texts: set[str], addresses: list[str]) -> Any:
    if not isinstance(value, str):
        return value
    if key in _PERSONAL_KEYS:
        return _PERSONAL_KEYS[key]
    folded = value.strip().casefold()
    if folded in texts or any(address in folded for address in addresses):
        return TEXT
    return value
