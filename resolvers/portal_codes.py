"""The codes that let customers into their portal: who is mailed one, and whether one counts."""

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import Select, and_, delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from resolvers.access import Row
from resolvers.context import Context
from resolvers.customer_session_parts import default_member
from storage.clock import now
from storage.emails import fold_email
from storage.mails import Mail, write_mail
from storage.rows import insert_row, key_of, table_of, update_row
from storage.sealing import Purpose, is_signed, sign
from storage.tables.customers import CustomerRow, MemberRow
from storage.tables.portal_codes import PortalCodeRow

LIFE = timedelta(minutes=30)
MOST_TRIES = 5
# A row is kept for the hour in which it counts against what an address may be mailed.
KEPT_FOR = timedelta(hours=1)
MOST_CODES = 10
LENGTH = 6
# Without what reads alike: 0 and O, 1 and I.
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

_codes, _customers, _members = table_of(PortalCodeRow), table_of(CustomerRow), table_of(MemberRow)


@dataclass(frozen=True)
class Entrant:
    """Who an address is: the customer, or the member of it whose session it will be.

    `address` is theirs as it is kept: mail goes there and never to what somebody typed.
    """

    customer: Row
    member_id: UUID | None
    address: str
    is_customers_own: bool


async def mail_code(unit: Context, workspace: Row, email: str) -> None:
    """Mail the address a code, if it is a customer's or a member's; the code before it ends.

    The steps are the same for any address. One that has been asked for too often gets no further mail.
    """
    recipient, moment = _recipient(unit, workspace, email), now()
    outdated = and_(_codes.c.workspace_id == workspace["id"], _codes.c.created_at < moment - KEPT_FOR)
    await unit.unit.execute(delete(_codes).where(outdated))
    same = and_(_codes.c.workspace_id == workspace["id"], _codes.c.recipient == recipient)
    count = (await unit.unit.execute(select(func.count()).select_from(_codes).where(same))).scalar_one()
    if count >= MOST_CODES:
        return
    entrant = await find_entrant(unit.unit, workspace["id"], email)
    code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    await insert_row(
        unit.unit,
        PortalCodeRow,
        workspace_id=workspace["id"],
        recipient=recipient,
        # A code has too few characters for a hash that takes no secret to make.
        hash=sign(unit.services.secret_key, Purpose.PORTAL_CODE, recipient, code),
        customer_id=entrant.customer["id"] if entrant else None,
        member_id=entrant.member_id if entrant else None,
        created_at=moment,
        expires_at=moment + LIFE,
    )
    if entrant is not None:
        await write_mail(unit.unit, _mail(unit, workspace, entrant.address, code), workspace["id"])


async def use_code(unit: Context, workspace: Row, email: str, code: str) -> Entrant | None:
    """Who comes in by this code, which is then used; None where it does not count, which is noted."""
    recipient = _recipient(unit, workspace, email)
    latest = (
        select(_codes)
        .where(_codes.c.workspace_id == workspace["id"], _codes.c.recipient == recipient)
        .order_by(_codes.c.created_at.desc(), _codes.c.id.desc())
        .limit(1)
    )
    found = await _first(unit.unit, latest)
    if found is None:
        return None
    await _lock_customer(unit.unit, found)
    # Under the lock nobody else uses it, and whoever was faster is seen.
    locked = select(_codes).where(key_of(PortalCodeRow, found)).with_for_update()
    row = await _first(unit.unit, locked)
    if row is None:
        return None
    given = "".join(code.split()).replace("-", "").upper()
    is_right = is_signed(unit.services.secret_key, Purpose.PORTAL_CODE, row["hash"], recipient, given)
    if not is_right or row["used_at"] or row["tries"] >= MOST_TRIES or row["expires_at"] <= now():
        await update_row(unit.unit, PortalCodeRow, row, tries=row["tries"] + 1)
        return None
    await update_row(unit.unit, PortalCodeRow, row, used_at=now())
    entrant = await find_entrant(unit.unit, workspace["id"], email)
    # The address may have become somebody else's since the code was mailed.
    return entrant if entrant and entrant.customer["id"] == row["customer_id"] else None


async def find_entrant(connection: AsyncConnection, workspace_id: UUID, email: str) -> Entrant | None:
    """The customer with this address, else the member who has had it for the longest time."""
    customers = and_(_customers.c.workspace_id == workspace_id, _customers.c.deleted_at.is_(None))
    own = select(_customers).where(customers, _customers.c.email_folded == fold_email(email))
    customer = await _first(connection, own)
    if customer is not None:
        member_id = await default_member(connection, customer)
        return Entrant(customer, member_id, customer["email"], is_customers_own=True)
    same = and_(
        _customers.c.workspace_id == _members.c.workspace_id, _customers.c.id == _members.c.customer_id
    )
    of_member = (
        select(_customers, _members.c.id.label("entering_member"), _members.c.email.label("entering_address"))
        .join_from(_members, _customers, same)
        .where(customers, _members.c.workspace_id == workspace_id, _members.c.deleted_at.is_(None))
        .where(_members.c.email_folded == fold_email(email))
        .order_by(_members.c.created_at, _members.c.id)
        .limit(1)
    )
    found = await _first(connection, of_member)
    if found is None:
        return None
    member_id, address = found.pop("entering_member"), found.pop("entering_address")
    return Entrant(found, member_id, address, is_customers_own=False)


async def _first(connection: AsyncConnection, statement: Select[Any]) -> dict[str, Any] | None:
    row = (await connection.execute(statement)).mappings().first()
    return None if row is None else dict(row)


async def _lock_customer(connection: AsyncConnection, code: Mapping[str, Any]) -> None:
    """Let the customer's deletion, which ends its codes, come before or after."""
    # A code that nobody was mailed looks for a customer too, and finds none.
    id = code["customer_id"] or code["id"]
    mine = and_(_customers.c.workspace_id == code["workspace_id"], _customers.c.id == id)
    await connection.execute(select(_customers.c.id).where(mine).with_for_update())


def _recipient(ctx: Context, workspace: Row, email: str) -> str:
    return sign(ctx.services.secret_key, Purpose.PORTAL_RECIPIENT, str(workspace["id"]), fold_email(email))


def _mail(ctx: Context, workspace: Row, email: str, code: str) -> Mail:
    minutes = int(LIFE.total_seconds() // 60)
    text = (
        f"Your code for the customer portal of {workspace['name']} is\n\n    {code}\n\n"
        f"Enter it at {ctx.services.auth_url}/{workspace['slug']}/portal within {minutes} minutes. "
        "It works once.\n\nIf you did not ask for it, somebody else entered your address: you need not do "
        "anything, and without the code they cannot get in.\n"
    )
    return Mail(email, f"Your code for the customer portal of {workspace['name']}", text)
