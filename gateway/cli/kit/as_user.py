"""Runs operations on behalf of a user, for an operator: by the API's rules, without credentials or limits."""

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from gateway.cli.kit.input import sentence_of
from gateway.cli.kit.output import CommandError
from gateway.files.store import make_object_store
from gateway.mail.budget import DAY_SECONDS, WINDOW_SECONDS
from gateway.rate_limits.limits import RateLimiter
from gateway.services import make_mail_budget, make_services
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

    async def charge_answer(self, size: int) -> None:
        """Does nothing."""

    async def charge_database(self) -> None:
        """Does nothing."""

    def report(self) -> dict[str, int | None]:
        return {}


def in_place_of(
    user: UserRow,
    settings: Settings,
    database: Database,
    *,
    reserved_slugs: frozenset[str] = frozenset(),
) -> Context:
    """The context of an operation that `user` calls, who can create no workspace with a reserved slug."""
    principal = Principal(
        kind=PrincipalKind.PERSONAL_TOKEN, credential_id=uuid4(), scopes=USER_SCOPES, user_id=user.id
    )
    return _context(principal, settings, database, reserved_slugs)


def in_place_of_workspace(workspace_id: UUID, settings: Settings, database: Database) -> Context:
    """The context of an operation that is called with a token of the workspace."""
    principal = Principal(
        kind=PrincipalKind.WORKSPACE_TOKEN,
        credential_id=uuid4(),
        scopes=WORKSPACE_SCOPES,
        workspace_id=workspace_id,
    )
    return _context(principal, settings, database, frozenset())


def _context(
    principal: Principal, settings: Settings, database: Database, reserved_slugs: frozenset[str]
) -> Context:
    services = make_services(
        settings,
        database,
        make_object_store(settings, settings.secret()),
        make_mail_budget(
            settings,
            RateLimiter(settings.redis_url, WINDOW_SECONDS),
            RateLimiter(settings.redis_url, DAY_SECONDS),
        ),
        reserved_slugs=reserved_slugs,
        wake_delivery=_wake_delivery,
    )
    caller = Caller(principal, NoBudget(), "operator", uuid4().hex, is_operator=True)
    return Context(services=services, caller=caller)


def _wake_delivery() -> None:
    """Does nothing: gateways look for new emails."""


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
