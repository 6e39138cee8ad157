"""Runs operations on behalf of a user, for an operator: by the API's rules, without credentials or limits."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

from gateway.app import create_app
from gateway.cli.input import sentence_of
from gateway.cli.output import CommandError
from gateway.settings.settings import Settings
from oauth.principals import Principal, PrincipalKind
from oauth.scopes import USER_SCOPES
from resolvers.operations.context import Caller, Context
from resolvers.operations.declaration import operation_of
from resolvers.operations.runner import run
from schema.errors import Failure, Invalid
from storage.database import Database
from storage.tables.users import UserRow


class NoBudget:
    """A budget without a rate limit, for operators."""

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        """Does nothing."""

    def largest(self, limit: int | None) -> int | None:
        return None


def in_place_of(user: UserRow, settings: Settings, database: Database) -> Context:
    """The context of an operation that `user` calls."""
    principal = Principal(
        kind=PrincipalKind.PERSONAL_TOKEN,
        credential_id=uuid4(),
        scopes=USER_SCOPES,
        user_id=user.id,
    )
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
