"""Emailed links, each for one purpose and one use: created, read, used and ended."""

import math
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid4

from sqlalchemy import ColumnElement, and_, delete, select

from oauth.credentials import digest
from resolvers.accounts.users import lock_user
from resolvers.mails.mails import make_own_mail, send_mails
from resolvers.operations.context import Context
from schema.errors import RateLimited
from storage.clock import now
from storage.engine.connections import Connection
from storage.enums import LinkPurpose
from storage.queues.mails import NO_RECIPIENT, Mail
from storage.retention.rules import LINKS_KEPT_FOR
from storage.rows.rows import first, insert_row, table_of, update_row, update_rows
from storage.tables.accounts.mailed_links import MailedLinkRow
from storage.tables.accounts.users import UserRow

LIFETIMES = {
    LinkPurpose.ADDRESS: timedelta(days=3),
    LinkPurpose.NEW_ADDRESS: timedelta(days=1),
    LinkPurpose.PASSWORD: timedelta(hours=1),
}
PATHS = {
    LinkPurpose.ADDRESS: "/confirm-address",
    LinkPurpose.NEW_ADDRESS: "/confirm-new-address",
    LinkPurpose.PASSWORD: "/new-password",
}
TEMPLATES = {
    LinkPurpose.ADDRESS: "address_confirmation",
    LinkPurpose.NEW_ADDRESS: "new_address",
    LinkPurpose.PASSWORD: "forgotten_password",
}
# The pages to sign in and to request a link for a new password.
SIGN_IN_PATH, FORGOTTEN_PATH = "/sign-in", "/forgotten-password"
# The most links of one purpose that a user can be sent in an hour.
MOST_LINKS, WINDOW = 5, timedelta(hours=1)

_links, _users = table_of(MailedLinkRow), table_of(UserRow)


class LinkState(StrEnum):
    """The state of a link. `ENDED`: a newer link replaced it, or its purpose is gone."""

    VALID = "valid"
    USED = "used"
    ENDED = "ended"
    EXPIRED = "expired"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Recipient:
    """The user that a link is for. Without an id the link and its email are written but never sent."""

    user_id: UUID | None = None
    email: str = NO_RECIPIENT
    email_folded: str = NO_RECIPIENT
    language: str | None = None


@dataclass(frozen=True)
class MailedLink:
    """The state of a link, its user, and the address it was sent to.

    Without a user, no such link was sent for this purpose.
    """

    state: LinkState
    user: UserRow | None = field(default=None, repr=False)
    recipient: str = field(default="", repr=False)


async def mail_link(
    change: Context,
    user_id: UUID,
    purpose: LinkPurpose,
    new_address: str | None = None,
    *,
    owner: UserRow | None = None,
) -> None:
    """Email the user a link, which ends the previous ones. Raises `RateLimited` after five in an hour.

    It is sent to `new_address` if there is one, otherwise to the user's address. If another user has that
    address already, the `owner`, the email says so instead, and the link is written but not sent.
    """
    user = await lock_user(change.connection, user_id)
    latest = await _latest(change.connection, user_id, purpose)
    if len(latest) == MOST_LINKS:
        raise _too_many(latest[-1])
    recipient = _to(user)
    if new_address is not None:
        recipient = replace(recipient, email=new_address, email_folded=new_address)
    await _write(change, recipient, purpose, owner)


async def mail_link_if_known(change: Context, user: UserRow | None, purpose: LinkPurpose) -> None:
    """The same if there is a user, but send nothing after five in an hour.

    The statements are the same in every case, and so is the time that other requests wait for them.
    """
    user_id = user.id if user is not None else uuid4()
    locked_user = await first(change.connection, UserRow, _users.c.id == user_id, lock=True)
    is_allowed = len(await _latest(change.connection, user_id, purpose)) < MOST_LINKS
    recipient = Recipient()
    if locked_user and is_allowed:
        recipient = _to(locked_user)
    await _write(change, recipient, purpose)


def _to(user: UserRow) -> Recipient:
    return Recipient(user.id, user.email, user.email_folded, user.language)


async def _write(
    change: Context, recipient: Recipient, purpose: LinkPurpose, owner: UserRow | None = None
) -> None:
    moment, user_id = now(), recipient.user_id
    # Links without a user are useless, so only the latest is kept.
    outdated = moment - LINKS_KEPT_FOR if user_id is not None else moment
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
    if owner is not None:
        mail = make_account_notice(change, recipient.email, owner.language)
    else:
        link = f"{change.services.auth_url}{PATHS[purpose]}?token={text}"
        values = {"language": recipient.language, "address": recipient.email, "link": link}
        mail = make_own_mail(recipient.email, TEMPLATES[purpose], **values)
    await send_mails(change, [mail])


def make_account_notice(change: Context, email: str, language: str | None) -> Mail:
    """The email to a user whose address someone wanted to use for an account."""
    url = change.services.auth_url
    forgotten = f"{url}{FORGOTTEN_PATH}"
    link = f"{url}{SIGN_IN_PATH}"
    values = {"address": email, "link": link, "forgotten": forgotten}
    return make_own_mail(email, "account_exists", language=language, **values)


async def find_link(connection: Connection, text: str, purpose: LinkPurpose) -> MailedLink:
    """The link and its state; reading it does not use it."""
    row = await first(connection, MailedLinkRow, _is_link(text, purpose))
    user = None if row is None else await first(connection, UserRow, _users.c.id == row.user_id)
    return _assess(row, user)


async def use_link(connection: Connection, text: str, purpose: LinkPurpose) -> MailedLink:
    """Use the link if it is valid; returns its state before that. Locks its user."""
    row = await first(connection, MailedLinkRow, _is_link(text, purpose))
    if row is None or row.user_id is None:
        return MailedLink(LinkState.UNKNOWN)
    user = await lock_user(connection, row.user_id)
    # Read again under the lock: another request may have used or replaced it meanwhile.
    row = await first(connection, MailedLinkRow, _is_link(text, purpose), lock=True)
    link = _assess(row, user)
    if row is not None and link.state is LinkState.VALID:
        await update_row(connection, MailedLinkRow, row, used_at=now())
    return link


async def end_links(connection: Connection, user_id: UUID | None, purpose: LinkPurpose) -> None:
    """End the user's open links for this purpose."""
    open_links = and_(_of(user_id, purpose), _links.c.used_at.is_(None), _links.c.ended_at.is_(None))
    await update_rows(connection, MailedLinkRow, open_links, ended_at=now())


async def find_open_recipient(connection: Connection, user_id: UUID, purpose: LinkPurpose) -> str | None:
    """The address that the user's valid link for this purpose was sent to; None without such a link."""
    valid = (_links.c.used_at.is_(None), _links.c.ended_at.is_(None), _links.c.expires_at > now())
    row = await first(connection, MailedLinkRow, _of(user_id, purpose), *valid)
    return None if row is None else row.recipient


async def _latest(connection: Connection, user_id: UUID, purpose: LinkPurpose) -> Sequence[datetime]:
    """When the user's links of the last hour were created, latest first, up to the limit."""
    made_at = _links.c.created_at
    recent = (_of(user_id, purpose), made_at > now() - WINDOW)
    latest = select(made_at).where(*recent).order_by(made_at.desc()).limit(MOST_LINKS)
    return (await connection.execute(latest)).scalars().all()


def _too_many(oldest: datetime) -> RateLimited:
    seconds = max(math.ceil((oldest + WINDOW - now()).total_seconds()), 1)
    return RateLimited(
        f"{MOST_LINKS} of these emails were sent within an hour. Use the link in the latest one, "
        f"or request another in {math.ceil(seconds / 60)} minutes.",
        {"Retry-After": str(seconds)},
    )


def _assess(row: MailedLinkRow | None, user: UserRow | None) -> MailedLink:
    if row is None or user is None:
        return MailedLink(LinkState.UNKNOWN)
    return MailedLink(_state(row, user), user, row.recipient)


def _state(row: MailedLinkRow, user: UserRow) -> LinkState:
    if row.used_at is not None:
        return LinkState.USED
    # A link sent to one address proves nothing about another.
    is_for_another = row.purpose != LinkPurpose.NEW_ADDRESS and row.recipient != user.email_folded
    if row.ended_at is not None or is_for_another:
        return LinkState.ENDED
    return LinkState.EXPIRED if row.expires_at <= now() else LinkState.VALID


def _of(user_id: UUID | None, purpose: LinkPurpose) -> ColumnElement[bool]:
    return and_(_links.c.user_id == user_id, _links.c.purpose == purpose.value)


def _is_link(text: str, purpose: LinkPurpose) -> ColumnElement[bool]:
    return and_(_links.c.hash == digest(text), _links.c.purpose == purpose.value)
