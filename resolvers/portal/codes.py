"""Codes for the customer portal: emailed on request, checked, and used once."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from sqlalchemy import and_, delete, select

from resolvers.customers.portal_access import Entrant, find_entrants, lock_customers, recipient_of
from resolvers.mails.brands import brand_of
from resolvers.mails.mails import make_mail
from resolvers.mails.unsolicited_mails import send_unsolicited_mail_if_allowed
from resolvers.operations.context import Context
from schema.languages.speech import language_of_page
from storage.clock import now
from storage.queues.mails import NO_RECIPIENT, Mail
from storage.rows.rows import first, first_of, insert_row, key_of, table_of, update_row
from storage.sealing import Purpose, is_signed, sign
from storage.tables.customers.portal_codes import PortalCodeRow
from storage.tables.workspaces.workspaces import WorkspaceRow

CODE_LIFETIME = timedelta(minutes=30)
# Wrong tries of one visitor, and of all together: so many that strangers hardly use them up.
MOST_TRIES, MOST_TRIES_OF_ALL = 5, 100
# A new code stays this long, so that strangers cannot replace it while it is being typed.
YOUNG_FOR = timedelta(minutes=2)
# A row counts towards its visitor's limit of codes per address for an hour, and is kept for that long.
RETENTION = timedelta(hours=1)
MOST_CODES = 10
LENGTH = 6
# Without characters that look alike: 0 and O, 1 and I.
ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"

_codes = table_of(PortalCodeRow)


@dataclass(frozen=True)
class Entry:
    """The result of a code: the entrant, or the choices; neither if the code is not accepted."""

    entrant: Entrant | None = None
    choices: Sequence[Entrant] = ()


async def mail_code(change: Context, workspace: WorkspaceRow, email: str) -> None:
    """Email a code to the address of a customer or a member, which ends the previous code.

    The steps are the same for any address. No code is sent within two minutes of an unused one, or after
    the visitor's tenth code for the address within an hour.
    """
    recipient, visitor = recipient_of(change, workspace.id, email), _visitor(change)
    moment = now()
    outdated = and_(_codes.c.workspace_id == workspace.id, _codes.c.created_at < moment - RETENTION)
    await change.connection.execute(delete(_codes).where(outdated))
    same = and_(_codes.c.workspace_id == workspace.id, _codes.c.recipient == recipient)
    sent_codes = select(_codes.c.visitor, _codes.c.created_at, _codes.c.used_at).where(same)
    rows = (await change.connection.execute(sent_codes)).all()
    is_young = any(row.used_at is None and row.created_at > moment - YOUNG_FOR for row in rows)
    if is_young or sum(row.visitor == visitor for row in rows) >= MOST_CODES:
        return
    entrants = await find_entrants(change.connection, workspace, email)
    entrant = entrants[0] if entrants else None
    code = "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
    await insert_row(
        change.connection,
        PortalCodeRow,
        workspace_id=workspace.id,
        recipient=recipient,
        visitor=visitor,
        # A code is too short for a hash without a secret.
        hash=sign(change.services.secret_key, Purpose.PORTAL_CODE, recipient, code),
        customer_id=entrant.customer.id if entrant else None,
        member_id=entrant.member_id if entrant else None,
        created_at=moment,
        expires_at=moment + CODE_LIFETIME,
    )
    mail = _mail(change, workspace, entrant, code)
    await send_unsolicited_mail_if_allowed(change, mail, workspace.id)


async def use_code(
    change: Context, workspace: WorkspaceRow, email: str, code: str, customer_id: UUID | None = None
) -> Entry:
    """Use the code and return its entrant. A wrong try is counted.

    If the address opens several customers, or was entered for a member by another user and never confirmed,
    a right code stays unused until `customer_id` chooses one of them.
    """
    recipient = recipient_of(change, workspace.id, email)
    statement = (
        select(_codes)
        .where(_codes.c.workspace_id == workspace.id, _codes.c.recipient == recipient)
        .order_by(_codes.c.created_at.desc(), _codes.c.id.desc())
        .limit(1)
    )
    latest_code = await first_of(change.connection, PortalCodeRow, statement)
    if latest_code is None:
        return Entry()
    await lock_customers(
        change.connection, workspace, await find_entrants(change.connection, workspace, email)
    )
    # Read again under the locks: another request may have used it meanwhile.
    row = await first(change.connection, PortalCodeRow, key_of(PortalCodeRow, latest_code), lock=True)
    if row is None:
        return Entry()
    entrants = await find_entrants(change.connection, workspace, email)
    entry = _choose(entrants, customer_id)
    typed = "".join(code.split()).replace("-", "").upper()
    is_right = is_signed(change.services.secret_key, Purpose.PORTAL_CODE, row.hash, recipient, typed)
    visitor, tries = _visitor(change), row.visitor_tries
    if tries.get(visitor, 0) >= MOST_TRIES or row.tries >= MOST_TRIES_OF_ALL:
        return Entry()
    is_over = row.used_at or row.expires_at <= now()
    # A code that was never sent opens no portal, even if a customer has the address by now.
    if not is_right or is_over or row.customer_id is None or entry == Entry():
        tried = {**tries, visitor: tries.get(visitor, 0) + 1}
        await update_row(change.connection, PortalCodeRow, row, tries=row.tries + 1, visitor_tries=tried)
        return Entry()
    if entry.entrant is not None:
        await update_row(change.connection, PortalCodeRow, row, used_at=now())
    return entry


def _choose(entrants: Sequence[Entrant], customer_id: UUID | None) -> Entry:
    if customer_id is not None:
        return Entry(next((each for each in entrants if each.customer.id == customer_id), None))
    if len(entrants) == 1 and not entrants[0].is_unconfirmed:
        return Entry(entrants[0])
    return Entry(choices=entrants)


def _visitor(ctx: Context) -> str:
    return sign(ctx.services.secret_key, Purpose.CODE_VISITOR, ctx.caller.address)


def _mail(ctx: Context, workspace: WorkspaceRow, entrant: Entrant | None, code: str) -> Mail:
    """In the customer's language, else in that of the page that asked for it, else in the workspace's."""
    own = None if entrant is None else entrant.customer.language
    return make_mail(
        NO_RECIPIENT if entrant is None else entrant.address,
        "portal_code",
        language=own or language_of_page() or workspace.language,
        brand=brand_of(workspace.id, workspace.name, workspace.avatar_url, ctx.services.auth_url),
        workspace=workspace.name,
        code=code,
        portal=f"{ctx.services.auth_url}/{workspace.slug}/portal",
        minutes=int(CODE_LIFETIME.total_seconds() // 60),
    )
