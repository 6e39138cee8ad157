"""Links that users are mailed, each for one purpose and one use: made, looked at, used and ended."""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, and_, delete, select
from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.credentials import digest
from resolvers.accounts.users import lock_user
from resolvers.mails.mails import make_mail, send_mails
from resolvers.operations.context import Context
from schema.errors import RateLimited
from storage.clock import now
from storage.enums import LinkPurpose
from storage.mails import NO_RECIPIENT
from storage.rows import first, insert_row, table_of, update_row, update_rows
from storage.tables.mailed_links import MailedLinkRow
from storage.tables.users import UserRow

LIFETIMES = {LinkPurpose.ADDRESS: timedelta(days=3), LinkPurpose.PASSWORD: timedelta(hours=1)}
PATHS = {LinkPurpose.ADDRESS: "/confirm-address", LinkPurpose.PASSWORD: "/new-password"}
TEMPLATES = {LinkPurpose.ADDRESS: "address_confirmation", LinkPurpose.PASSWORD: "forgotten_password"}
# A user may be mailed this many of a purpose in any hour.
MOST_LINKS, WINDOW = 5, timedelta(hours=1)
# For so long it can be said what became of a link.
RETENTION = timedelta(days=30)

_links, _users = table_of(MailedLinkRow), table_of(UserRow)


class LinkState(StrEnum):
    """What a link is worth. `ENDED` is one in whose place there is a newer one, or that is moot."""

    VALID = "valid"
    USED = "used"
    ENDED = "ended"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Recipient:
    """The user that a link is for. Without an id the link and its mail are written, and nobody gets them."""

    user_id: UUID | None = None
    email: str = NO_RECIPIENT
    email_folded: str = NO_RECIPIENT


@dataclass(frozen=True)
class MailedLink:
    """What a link is worth, and whose it is: None for one that we never mailed for this purpose."""

    state: LinkState
    user: UserRow | None = field(default=None, repr=False)


async def mail_link(change: Context, user_id: UUID, purpose: LinkPurpose) -> None:
    """Mail the user a link, which ends the ones before it. Raises `RateLimited` after five in an hour."""
    user = await lock_user(change.connection, user_id)
    latest = await _latest(change.connection, user_id, purpose)
    if len(latest) == MOST_LINKS:
        raise _too_many(latest[-1])
    await _write(change, Recipient(user.id, user.email, user.email_folded), purpose)


async def mail_link_if_known(change: Context, user: UserRow | None, purpose: LinkPurpose) -> None:
    """The same for a user if there is one, and nothing after five in an hour.

    The statements are the same in every case, and so is the time for which others wait behind them.
    """
    user_id = user.id if user is not None else uuid4()
    known = await first(change.connection, UserRow, _users.c.id == user_id, lock=True)
    is_allowed = len(await _latest(change.connection, user_id, purpose)) < MOST_LINKS
    recipient = Recipient(known.id, known.email, known.email_folded) if known and is_allowed else Recipient()
    await _write(change, recipient, purpose)


async def _write(change: Context, recipient: Recipient, purpose: LinkPurpose) -> None:
    moment, user_id = now(), recipient.user_id
    # A link without a user is of no use, so only the latest is kept.
    outdated = moment - RETENTION if user_id is not None else moment
    await change.connection.execute(
        delete(_links).where(_of(user_id, purpose), _links.c.created_at < outdated)
    )
    await end_links(change.connection, user_id, purpose)
    text = secrets.token_urlsafe(32)
    await insert_row(
        change.connection,
        MailedLinkRow,
        user_id=user_id,
        purpose=purpose.value,
        recipient=recipient.email_folded,
        hash=digest(text),
        created_at=moment,
        expires_at=moment + LIFETIMES[purpose],
    )
    mail = make_mail(
        recipient.email,
        TEMPLATES[purpose],
        address=recipient.email,
        link=f"{change.services.auth_url}{PATHS[purpose]}?token={text}",
    )
    await send_mails(change, [mail])


async def find_link(connection: AsyncConnection, text: str, purpose: LinkPurpose) -> MailedLink:
    """The link as it is, unused by looking at it."""
    row = await first(connection, MailedLinkRow, _is_link(text, purpose))
    user = None if row is None else await first(connection, UserRow, _users.c.id == row.user_id)
    return _assess(row, user)


async def use_link(connection: AsyncConnection, text: str, purpose: LinkPurpose) -> MailedLink:
    """The link as it was until now: a valid one is used with this. Its user is locked."""
    row = await first(connection, MailedLinkRow, _is_link(text, purpose))
    if row is None or row.user_id is None:
        return MailedLink(LinkState.UNKNOWN)
    user = await lock_user(connection, row.user_id)
    # Read again under the lock: another request may have used it, or had a newer one mailed, meanwhile.
    row = await first(connection, MailedLinkRow, _is_link(text, purpose), lock=True)
    link = _assess(row, user)
    if row is not None and link.state is LinkState.VALID:
        await update_row(connection, MailedLinkRow, row, used_at=now())
    return link


async def end_links(connection: AsyncConnection, user_id: UUID | None, purpose: LinkPurpose) -> None:
    """Let none of the user's links for this purpose count any more."""
    open_ones = and_(_of(user_id, purpose), _links.c.used_at.is_(None), _links.c.ended_at.is_(None))
    await update_rows(connection, MailedLinkRow, open_ones, ended_at=now())


async def _latest(connection: AsyncConnection, user_id: UUID, purpose: LinkPurpose) -> Sequence[datetime]:
    """When the user's links of the last hour were made, the latest first; no more than may be mailed."""
    made_at = _links.c.created_at
    recent = (_of(user_id, purpose), made_at > now() - WINDOW)
    latest = select(made_at).where(*recent).order_by(made_at.desc()).limit(MOST_LINKS)
    return (await connection.execute(latest)).scalars().all()


def _too_many(oldest: datetime) -> RateLimited:
    seconds = max(math.ceil((oldest + WINDOW - now()).total_seconds()), 1)
    return RateLimited(
        f"{MOST_LINKS} such mails were sent within an hour, and the latest one counts. "
        f"Another one can be sent in {math.ceil(seconds / 60)} minutes.",
        {"Retry-After": str(seconds)},
    )


def _assess(row: MailedLinkRow | None, user: UserRow | None) -> MailedLink:
    if row is None or user is None:
        return MailedLink(LinkState.UNKNOWN)
    if row.used_at is not None:
        return MailedLink(LinkState.USED, user)
    # What was mailed to an address proves nothing of another one.
    if row.ended_at is not None or row.recipient != user.email_folded:
        return MailedLink(LinkState.ENDED, user)
    return MailedLink(LinkState.EXPIRED if row.expires_at <= now() else LinkState.VALID, user)


def _of(user_id: UUID | None, purpose: LinkPurpose) -> ColumnElement[bool]:
    return and_(_links.c.user_id == user_id, _links.c.purpose == purpose.value)


def _is_link(text: str, purpose: LinkPurpose) -> ColumnElement[bool]:
    return and_(_links.c.hash == digest(text), _links.c.purpose == purpose.value)
