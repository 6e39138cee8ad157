"""The signed-in user's own account: its name, and its end."""

from resolvers.accounts.users import delete_user, lock_user
from resolvers.credentials.browser_sessions import IN_A_BROWSER
from resolvers.credentials.oauth_clients import delete_client, list_clients
from resolvers.mails.mails import make_own_mail, send_mails
from resolvers.operations.context import Context
from resolvers.operations.declaration import requires
from resolvers.sign_in.sign_in import find_own_user
from resolvers.workspaces.administration import list_memberships
from resolvers.workspaces.members import remove_workspace_member
from schema.accounts.accounts import OwnLanguage, OwnName
from schema.errors import Invalid, NotFound, problem
from storage.rows.rows import first, table_of, update_row
from storage.tables.accounts.users import UserRow

_users = table_of(UserRow)


class LastOwner(ValueError):
    """A user is the last owner of workspaces, whose `slugs` these are."""

    def __init__(self, slugs: list[str]) -> None:
        super().__init__(f"The last owner of {', '.join(slugs)}.")
        self.slugs = slugs


@requires(None, kinds=IN_A_BROWSER)
async def change_own_name(ctx: Context, data: OwnName) -> None:
    """Change the name that other members see."""
    user = await find_own_user(ctx)
    async with ctx.change() as change:
        row = await lock_user(change.connection, user.id)
        await update_row(change.connection, UserRow, row, name=data.name)


@requires(None, kinds=IN_A_BROWSER)
async def change_own_language(ctx: Context, data: OwnLanguage) -> None:
    """Change the language of emails to the user, and of the pages that are translated."""
    user = await find_own_user(ctx)
    async with ctx.change() as change:
        row = await lock_user(change.connection, user.id)
        await update_row(change.connection, UserRow, row, language=data.language.value)


@requires(None, kinds=IN_A_BROWSER, fresh=True, audits=True)
async def delete_own_account(ctx: Context) -> None:
    """Delete the user, who leaves all workspaces first.

    Raises `Invalid` with a problem for each workspace whose last owner the user is.
    """
    try:
        async with ctx.change() as change:
            user = await first(change.connection, UserRow, _users.c.id == ctx.principal.user_id)
            is_ended = user is not None and await end_account(change, user)
            # An unconfirmed address may belong to another person.
            if user is not None and is_ended and user.email_verified_at is not None:
                values = {"language": user.language, "address": user.email}
                await send_mails(change, [make_own_mail(user.email, "account_deletion", **values)])
    except LastOwner as last_owner:
        message = "You are the last owner of this workspace: make another member an owner, or delete it"
        raise Invalid(
            [problem(("workspaces", slug), message, "last_owner") for slug in last_owner.slugs]
        ) from None


async def end_account(ctx: Context, user: UserRow) -> bool:
    """Leave each workspace as on the page of its members, then delete the user's clients and the user.

    `ctx` acts for the user and has a change in progress. Returns whether the user was there until now: the
    same form may be sent twice at once. Raises `LastOwner`, and the change must not commit.
    """
    slugs = []
    for membership, slug in await list_memberships(ctx.connection, user.id):
        try:
            await remove_workspace_member(ctx, membership.id)
        except NotFound:
            continue
        except Invalid:
            slugs.append(slug)
    if slugs:
        raise LastOwner(slugs)
    for client, _ in await list_clients(ctx.connection, user_id=user.id):
        await delete_client(ctx.connection, client)
    # Locked last, as other changes lock a workspace before its users.
    if await first(ctx.connection, UserRow, _users.c.id == user.id, lock=True) is None:
        return False
    await delete_user(ctx.connection, user)
    return True
