"""Runs operations on behalf of a user, for an operator: by the API's rules, without credentials or limits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

from gateway.cli.kit.input import sentence_of
from gateway.cli.kit.output import CommandError
from gateway.settings.settings import Settings
from oauth.principals import Principal, PrincipalKind
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES
from resolvers.operations.context import Caller, Context
from resolvers.operations.declaration import operation_of
from resolvers.operations.runner import run
from schema.errors import Failure, Invalid
from storage.engine.database import Database
from storage.tables.accounts.users import UserRow


class NoBudget:
    """A budget without a rate limit, for operators."""

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        """Does nothing."""

    def largest(self, limit: int | None) -> int | None:
        return None

    def report(self) -> dict[str, int | None]:
        return {}


def in_place_of(
    user: UserRow, settings: Settings, database: Database, workspace_ids: tuple[UUID, ...] = ()
) -> Context:
    """The context of an operation that `user`, a member of these workspaces, calls."""
    principal = Principal(
        kind=PrincipalKind.PERSONAL_TOKEN,
        credential_id=uuid4(),
        scopes=USER_SCOPES,
        user_id=user.id,
        workspace_ids=workspace_ids,
    )
    return _context(principal, settings, database)


def in_place_of_workspace(workspace_id: UUID, settings: Settings, database: Database) -> Context:
    """The context of an operation that is called with a token of the workspace."""
    principal = Principal(
        kind=PrincipalKind.WORKSPACE_TOKEN,
        credential_id=uuid4(),
        scopes=WORKSPACE_SCOPES,
        workspace_id=workspace_id,
    )
    return _context(principal, settings, database)


def _context(principal: Principal, settings: Settings, database: Database) -> Context:
    # Most commands run no operation, and importing the application takes longer than they do.
    from gateway.app import create_app  # noqa: PLC0415

    caller = Caller(principal, NoBudget(), address="operator", request_id=uuid4().hex)
    return Context(services=replace(create_app(settings).state.services, database=database), caller=caller)


async def perform(ctx: Context, resolver: Callable[..., Any], **arguments: Any) -> Any:
    """Run the operation, in a transaction of its own or in the open one of `ctx`.

    Raises `CommandError` if the operation fails.
    """
    operation = operation_of(resolver)
    try:
        checked = operation.validate(arguments)
        if ctx.transaction is not None:
            return await operation.resolver(ctx, **checked)
        return await run(operation, ctx, checked)
    except Invalid as invalid:
        raise CommandError(sentence_of(invalid.problems)) from None
    except Failure as failure:
        raise CommandError(str(failure)) from None
