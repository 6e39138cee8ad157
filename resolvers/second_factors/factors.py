"""Second factors in general: whether a user has one, and emails to their owner."""

from enum import Enum
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy import and_, delete, exists, or_, select

from oauth.sign_in.passkeys import RelyingParty
from resolvers.mails.mails import make_mail, make_own_mail, plain_name, send_mails
from resolvers.operations.context import Context
from schema.errors import NotPermitted
from schema.languages.speech import gettext, noted
from storage.clock import now
from storage.engine.connections import Connection
from storage.queues.mails import Mail
from storage.rows.rows import table_of, update_rows
from storage.tables.accounts.second_factors import PasskeyRow, RecoveryCodeRow, TotpSecretRow
from storage.tables.accounts.second_steps import SecondStepRow
from storage.tables.accounts.users import UserRow

# The page on which users manage their factors.
SECURITY_PATH = "/account/security"

_totp, _passkeys, _codes = table_of(TotpSecretRow), table_of(PasskeyRow), table_of(RecoveryCodeRow)
_steps = table_of(SecondStepRow)


class Event(Enum):
    """A notice to the owner of an account: the subject, and a sentence with placeholders."""

    TOTP_ADDED = (
        noted("An authenticator app was added"),
        noted("An authenticator app was set up. Signing in with the password now requires a second factor."),
    )
    TOTP_REMOVED = (
        noted("An authenticator app was removed"),
        noted("The authenticator app was removed."),
    )
    PASSKEY_ADDED = (
        noted("A passkey was added"),
        noted("The passkey %(name)s was added. It can sign in to the account."),
    )
    PASSKEY_REMOVED = (
        noted("A passkey was removed"),
        noted("The passkey %(name)s was removed."),
    )
    PASSKEY_COPIED = (
        noted("A passkey was refused"),
        noted(
            "The passkey %(name)s was refused, because its counter shows that a copy of it was "
            "used. Remove it and add a new one."
        ),
    )
    CODES_RENEWED = (
        noted("New recovery codes were created"),
        noted("New recovery codes were created, and the old ones no longer work."),
    )
    CODE_USED = (
        noted("A recovery code was used"),
        noted("A recovery code was used. Unused codes: %(left)s."),
    )
    WRONG_CODES = (
        noted("Wrong codes after your password"),
        noted(
            "After the correct password, %(tries)s wrong codes were entered. If this was not you,"
            " someone else knows your password: change it."
        ),
    )
    RESET = (
        noted("All second factors were removed"),
        noted(
            "An operator removed the authenticator app, the passkeys and the recovery codes. You "
            "now sign in with your password alone."
        ),
    )


async def has_factor(connection: Connection, user_id: UUID) -> bool:
    """Whether the user has an authenticator app or a passkey, so that the password is not enough."""
    has_one = or_(
        exists(select(_totp.c.user_id).where(_totp.c.user_id == user_id)),
        exists(select(_passkeys.c.id).where(_passkeys.c.user_id == user_id)),
    )
    return bool((await connection.execute(select(has_one))).scalar_one())


async def drop_codes_without_factor(connection: Connection, user_id: UUID) -> None:
    """Delete the user's recovery codes if the last factor was removed."""
    if not await has_factor(connection, user_id):
        await connection.execute(delete(_codes).where(_codes.c.user_id == user_id))


async def drop_factors(connection: Connection, user_id: UUID) -> None:
    """Delete the user's authenticator app, passkeys and recovery codes."""
    for table in (_totp, _passkeys, _codes):
        await connection.execute(delete(table).where(table.c.user_id == user_id))


async def end_steps(connection: Connection, user_id: UUID) -> None:
    """End all second steps of a user."""
    open_steps = and_(_steps.c.user_id == user_id, _steps.c.ended_at.is_(None))
    await update_rows(connection, SecondStepRow, open_steps, ended_at=now())


def check_confirmed(user: UserRow) -> None:
    """Raises `NotPermitted` until the email is confirmed.

    Otherwise a user who signed up with another person's email would keep a factor after its owner took over.
    """
    if user.email_verified_at is None:
        raise NotPermitted("Confirm your email first: follow the link that we sent you.")


def relying_party(ctx: Context) -> RelyingParty | None:
    """The relying party for passkeys; None if browsers support no passkeys for our address."""
    return RelyingParty.at(ctx.services.auth_url)


async def notify_owner(change: Context, user: UserRow, event: Event, **values: Any) -> None:
    """Email the user what happened to the account, once the change is committed."""
    await send_mails(change, [factor_mail(change.services.auth_url, user, event, **values)])


def factor_mail(auth_url: str, user: UserRow, event: Event, **values: Any) -> Mail:
    subject, sentence = event.value
    cleaned = {name: plain_name(value) if isinstance(value, str) else value for name, value in values.items()}
    # What a stranger did is not told in the language of the stranger's page.
    make = make_mail if event in (Event.WRONG_CODES, Event.PASSKEY_COPIED) else make_own_mail
    return make(
        user.email,
        "second_factor",
        language=user.language,
        subject=partial(gettext, subject),
        address=user.email,
        happened=partial(gettext, sentence, **cleaned),
        security=f"{auth_url}{SECURITY_PATH}",
    )
