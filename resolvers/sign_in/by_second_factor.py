"""Authentication with a second factor: after the password, by a passkey alone, and for a stale session."""

from dataclasses import dataclass, replace
from datetime import datetime

from oauth.sign_in.challenges import ChallengeUse, new_challenge
from resolvers.accounts.users import lock_user
from resolvers.credentials.browser_sessions import IN_A_BROWSER, reauthenticate_browser_session
from resolvers.operations.context import Context
from resolvers.operations.declaration import public, requires
from resolvers.operations.security_events import note_refusal
from resolvers.second_factors.factors import has_factor, relying_party
from resolvers.second_factors.passkeys import (
    not_accepted,
    owner_of,
    passkeys_of,
    session_binding,
    use_passkey,
)
from resolvers.second_factors.recovery_codes import session_user_id
from resolvers.second_factors.totp import find_totp
from resolvers.sign_in.second_steps import end_step, find_step, lock_step, take_code, wrong_code
from resolvers.sign_in.sign_in import (
    Browser,
    OpenedSession,
    complete_sign_in,
    find_own_user,
    is_own_password,
    lock_unchanged,
)
from schema.accounts.second_factors import Confirmation, PasskeySignIn, SecondStep
from schema.errors import Invalid, problem
from storage.engine.connections import Connection
from storage.tables.accounts.users import UserRow


@dataclass(frozen=True)
class NeededProof:
    """The proof that a page asks the user for.

    `has_totp` is whether an authenticator app's code is accepted, `needs_code` whether a code is needed.
    `options` are the browser's passkey options as JSON; None if no passkey can be used.
    """

    email: str
    has_totp: bool
    needs_code: bool
    options: str | None


@public("the password was right, which the step proves")
async def get_second_step(ctx: Context, pending: str) -> NeededProof | None:
    """The proof that the step needs; None if it has ended."""
    async with ctx.snapshot() as connection:
        step = await find_step(connection, pending)
        if step is None:
            return None
        return await _needed(ctx, connection, step.user, ChallengeUse.SECOND_STEP, pending)


@public("the password was right, which the step proves", restricted=True)
async def take_second_step(
    ctx: Context, data: SecondStep, pending: str, browser: Browser
) -> OpenedSession | None:
    """Sign in the user with the second factor; None if the step has ended.

    Raises `Invalid` for a wrong code or passkey, and `RateLimited` after too many wrong codes of the user.
    """
    async with ctx.change() as change:
        step = await lock_step(change.connection, pending)
        if step is None:
            return None
        user = step.user
        if data.passkey:
            is_proved = await use_passkey(change, user, data.passkey, ChallengeUse.SECOND_STEP, pending)
            if not is_proved:
                note_refusal("passkey", user.id)
        else:
            is_proved = await take_code(change, user, data.code, step.row)
        if is_proved:
            await end_step(change.connection, step.row)
            # The authorization request was named in the step with the password.
            step_browser = replace(browser, authorization_digest=step.row.authorization_digest)
            return await complete_sign_in(change.connection, change, user, step_browser)
    raise not_accepted() if data.passkey else wrong_code()


@public("the passkey is the credential", restricted=True)
async def sign_in_with_passkey(
    ctx: Context, data: PasskeySignIn, visitor: str, browser: Browser
) -> OpenedSession:
    """Sign in the user who owns the passkey. Raises `Invalid`."""
    async with ctx.change() as change:
        owner = await owner_of(change.connection, data.passkey)
        if owner is not None:
            user = await lock_user(change.connection, owner)
            if await use_passkey(change, user, data.passkey, ChallengeUse.SIGN_IN, visitor):
                return await complete_sign_in(change.connection, change, user, browser)
    note_refusal("passkey", owner)
    raise not_accepted()


def passkey_sign_in_options(ctx: Context, visitor: str) -> str | None:
    """The options for a sign-in by passkey, as JSON; None where browsers support no passkeys."""
    party = relying_party(ctx)
    if party is None:
        return None
    challenge = new_challenge(ctx.services.secret_key, ChallengeUse.SIGN_IN, visitor)
    return party.request_options(challenge, verified=True)


@requires(None, kinds=IN_A_BROWSER)
async def get_needed_confirmation(ctx: Context) -> NeededProof:
    """The proof by which the user of the browser session can authenticate again."""
    user = await find_own_user(ctx)
    async with ctx.snapshot() as connection:
        return await _needed(ctx, connection, user, ChallengeUse.CONFIRMATION, session_binding(ctx))


@requires(None, kinds=IN_A_BROWSER)
async def confirm_user(ctx: Context, data: Confirmation) -> datetime:
    """Authenticate the session's user again; returns the time. The session can hand out access for an hour.

    The proof is the password, with a code if the user has a second factor, or a passkey alone. Raises
    `Invalid` for a wrong one, and `RateLimited` after too many wrong codes.
    """
    await ctx.caller.budget.charge(ctx.caller.address, 1, None, restricted=True)
    session_id = ctx.principal.credential_id
    if data.passkey:
        async with ctx.change() as change:
            user = await lock_user(change.connection, session_user_id(ctx))
            use, binding = ChallengeUse.CONFIRMATION, session_binding(ctx)
            if await use_passkey(change, user, data.passkey, use, binding):
                return await reauthenticate_browser_session(change.connection, session_id)
        note_refusal("passkey", user.id)
        raise not_accepted()
    user = await find_own_user(ctx)
    if not await is_own_password(ctx, user, data.password):
        raise Invalid([problem(("data", "password"), "This is not your password", "credentials")])
    async with ctx.change() as change:
        await lock_unchanged(change.connection, user)
        if not await has_factor(change.connection, user.id) or await take_code(change, user, data.code):
            return await reauthenticate_browser_session(change.connection, session_id)
    raise wrong_code()


async def _needed(
    ctx: Context, connection: Connection, user: UserRow, use: ChallengeUse, binding: str
) -> NeededProof:
    has_totp = await find_totp(connection, user) is not None
    passkeys, party, options = await passkeys_of(connection, user.id), relying_party(ctx), None
    if passkeys and party is not None:
        challenge = new_challenge(ctx.services.secret_key, use, binding)
        options = party.request_options(challenge, passkeys, verified=use.is_alone)
    return NeededProof(user.email, has_totp, has_totp or bool(passkeys), options)
