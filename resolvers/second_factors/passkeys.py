"""Operations on passkeys, and their use."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import delete as sql_delete
from sqlalchemy import select

from oauth.scopes import Scope
from oauth.sign_in.challenges import ChallengeUse, answer, is_open, new_challenge
from oauth.sign_in.passkeys import Assertion, Refused, challenge_of_creation, read_assertion
from resolvers.accounts.users import lock_user
from resolvers.credentials.browser_sessions import IN_A_BROWSER
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.operations.rows.lists import Listing
from resolvers.operations.rows.lookups import get_for_update
from resolvers.operations.rows.reading import read_one, read_page
from resolvers.operations.shapes.shaped import as_model, shaped
from resolvers.second_factors.factors import (
    Event,
    check_confirmed,
    drop_codes_without_factor,
    notify_owner,
    relying_party,
)
from resolvers.second_factors.recovery_codes import make_first_codes, session_user_id
from resolvers.second_factors.shapes import PASSKEY
from schema.accounts.second_factors import Passkey, PasskeyCreate, PasskeyQuery, PasskeyUpdate
from schema.errors import Invalid, NotPermitted, problem
from schema.kit.pages import Page
from schema.kit.sorting import CreatedAtSorting
from storage.clock import now
from storage.engine.connections import Connection
from storage.rows.rows import every_of, first, insert_row, key_of, one, table_of, update_row
from storage.tables.accounts.second_factors import PasskeyRow
from storage.tables.accounts.users import UserRow

MOST_PASSKEYS = 10

_table, _users = table_of(PasskeyRow), table_of(UserRow)
LISTING = Listing(PasskeyRow, CreatedAtSorting, default="created_at", query=PasskeyQuery)


@dataclass(frozen=True)
class PasskeyCreated:
    """A new passkey, and the recovery codes created with it if it is the first factor."""

    passkey: Passkey
    recovery_codes: list[str]


@requires(Scope.ACCESS_TOKENS_READ, kinds=IN_A_BROWSER)
async def list_passkeys(ctx: Context, filters: PasskeyQuery) -> Page[Passkey]:
    """Lists the user's passkeys, oldest first unless sorted otherwise."""
    return await read_page(ctx, LISTING, PASSKEY, filters)


@requires(Scope.ACCESS_TOKENS_READ, kinds=IN_A_BROWSER)
async def get_passkey(ctx: Context, id: UUID) -> Passkey:
    """Returns a passkey of the user."""
    return await read_one(ctx, PasskeyRow, PASSKEY, id=id)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=IN_A_BROWSER, gives=get_passkey, causes=())
async def update_passkey(ctx: Context, id: UUID, data: PasskeyUpdate) -> Passkey:
    """Renames a passkey."""
    row = await get_for_update(ctx, PasskeyRow, id=id)
    row = await update_row(ctx.connection, PasskeyRow, row, **data.changes())
    return shaped(ctx.services, PASSKEY, row)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=IN_A_BROWSER, fresh=True, removes=get_passkey, causes=())
async def delete_passkey(ctx: Context, id: UUID) -> UUID:
    """Removes a passkey. Without another factor, the recovery codes end too."""
    user = await lock_user(ctx.connection, session_user_id(ctx))
    row = await get_for_update(ctx, PasskeyRow, id=id)
    await ctx.connection.execute(sql_delete(_table).where(key_of(PasskeyRow, row)))
    await drop_codes_without_factor(ctx.connection, user.id)
    await notify_owner(ctx, user, Event.PASSKEY_REMOVED, name=row.name)
    return id


@requires(Scope.ACCESS_TOKENS_READ, kinds=IN_A_BROWSER)
async def begin_passkey(ctx: Context) -> str | None:
    """The options for creating a passkey, as JSON; None if browsers support no passkeys for our address."""
    party = relying_party(ctx)
    if party is None:
        return None
    async with ctx.read() as connection:
        user = await one(connection, UserRow, _users.c.id == session_user_id(ctx))
        existing = await passkeys_of(connection, user.id)
    challenge = new_challenge(ctx.services.secret_key, ChallengeUse.CREATION, session_binding(ctx))
    return party.creation_options(challenge, user.id, user.email, existing)


@requires(Scope.ACCESS_TOKENS_WRITE, kinds=IN_A_BROWSER, fresh=True, causes=())
async def create_passkey(ctx: Context, data: PasskeyCreate) -> PasskeyCreated:
    """Store a passkey that the user's browser has created. Raises `Invalid` if it is not valid."""
    user = await lock_user(ctx.connection, session_user_id(ctx))
    check_confirmed(user)
    party = relying_party(ctx)
    if party is None or len(await passkeys_of(ctx.connection, user.id)) >= MOST_PASSKEYS:
        raise NotPermitted(f"An account has at most {MOST_PASSKEYS} passkeys: remove one first.")
    try:
        challenge = challenge_of_creation(data.passkey)
        created = party.check_creation(data.passkey, challenge)
    except Refused:
        raise not_accepted() from None
    is_ours = is_open(ctx.services.secret_key, ChallengeUse.CREATION, session_binding(ctx), challenge)
    if not is_ours or not await answer(ctx.connection, challenge):
        raise not_accepted()
    row = await insert_row(ctx.connection, PasskeyRow, user_id=user.id, name=data.name, **vars(created))
    await notify_owner(ctx, user, Event.PASSKEY_ADDED, name=data.name)
    passkey: Passkey = as_model(shaped(ctx.services, PASSKEY, row))
    return PasskeyCreated(passkey, await make_first_codes(ctx, user.id))


async def passkeys_of(connection: Connection, user_id: UUID) -> list[PasskeyRow]:
    """All passkeys of a user, oldest first."""
    own = select(_table).where(_table.c.user_id == user_id)
    return await every_of(connection, PasskeyRow, own.order_by(_table.c.created_at, _table.c.id))


async def owner_of(connection: Connection, text: str) -> UUID | None:
    """The owner of the passkey that a browser names, not yet verified; None if it does not exist."""
    try:
        credential_id = read_assertion(text).credential_id
    except Refused:
        return None
    row = await first(connection, PasskeyRow, _table.c.credential_id == credential_id)
    return None if row is None else row.user_id


async def use_passkey(change: Context, user: UserRow, text: str, use: ChallengeUse, binding: str) -> bool:
    """Whether the browser has signed our challenge with a passkey of the user, who must be locked.

    As the only proof, the authenticator must have verified its user. If its counter does not increase, the
    passkey is refused and the user is notified.
    """
    party = relying_party(change)
    try:
        assertion = read_assertion(text)
        row = await _find(change.connection, user, assertion)
        if party is None or row is None:
            return False
        count = party.check_use(assertion, row.public_key, verified=use.is_alone)
    except Refused:
        return False
    is_ours = is_open(change.services.secret_key, use, binding, assertion.challenge)
    if not is_ours or not await answer(change.connection, assertion.challenge):
        return False
    if row.sign_count and count <= row.sign_count:
        await notify_owner(change, user, Event.PASSKEY_COPIED, name=row.name)
        return False
    moment, unchanged = now(), row.modified_at
    await update_row(
        change.connection, PasskeyRow, row, sign_count=count, last_used_at=moment, modified_at=unchanged
    )
    return True


def not_accepted() -> Invalid:
    message = "This passkey was not accepted: try again"
    return Invalid([problem(("data",), message, "passkey")])


async def _find(connection: Connection, user: UserRow, assertion: Assertion) -> PasskeyRow | None:
    if assertion.user_id not in (None, user.id):
        return None
    same = (_table.c.user_id == user.id) & (_table.c.credential_id == assertion.credential_id)
    return await first(connection, PasskeyRow, same)


def session_binding(ctx: Context) -> str:
    """The binding of challenges that only this session of the user can answer."""
    return f"{session_user_id(ctx)} {ctx.principal.credential_id}"
