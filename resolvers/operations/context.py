"""What every resolver is given: who asks, a way to the database, and the services around it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from oauth.principals import Principal
from oauth.signed_reports import ReportKeys
from schema.errors import Unauthorized
from storage.database import Database
from storage.mails import Mail
from storage.objects.interface import ObjectStore

UNITS_AT_A_TIME = 4


class Budget(Protocol):
    """Where calls are charged; `limit` is the subject's own, None for the default."""

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        """Raises `RateLimited` when `cost` calls do not fit the subject's window, or that of its `roof`."""

    def largest(self, limit: int | None) -> int | None:
        """The most that could ever fit; None where there is no limit."""


class MailBudget(Protocol):
    """Where mails to people are counted who did not ask for them."""

    async def charge(self, mail: Mail, workspace_id: UUID, user_id: UUID | None) -> int:
        """Whole seconds after which the mail may be sent; 0 where it is charged and may be now."""


@dataclass(frozen=True)
class Quota:
    """What a workspace may store and have open unless an operator set its own; 0 for no limit."""

    stored_bytes: int = 0
    open_uploads: int = 0


@dataclass(frozen=True)
class Services:
    """What the process offers to resolvers; made once by the gateway.

    `base_url` and `auth_url` have no slash at the end; `secret_key` is for `storage.sealing`.
    `wake_delivery` has mails sent that were committed; without a gateway that runs, nobody is woken.
    `mails_for_new_workspaces`: strangers may be mailed for a workspace whose review has not begun.
    """

    database: Database
    objects: ObjectStore
    base_url: str
    auth_url: str
    secret_key: bytes
    reserved_slugs: frozenset[str]
    size_limits: Mapping[str, int]
    report_keys: ReportKeys
    mail_budget: MailBudget
    mails_for_new_workspaces: bool = False
    wake_delivery: Callable[[], None] = lambda: None
    quota: Quota = Quota()


@dataclass(frozen=True)
class Caller:
    """The request around an operation: its credential, its conditions and its budget.

    What is put into `after_response` runs once the answer is on its way, so that it cannot be told from
    how long the answer took.
    """

    principal: Principal | None
    budget: Budget
    address: str
    request_id: str
    idempotency_key: str | None = None
    credential: str | None = field(default=None, repr=False)
    response_headers: dict[str, str] = field(default_factory=dict)
    units: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(UNITS_AT_A_TIME))
    batches: dict[Any, Any] = field(default_factory=dict, repr=False)
    after_response: list[Callable[[], Awaitable[None]]] = field(default_factory=list, repr=False)


@dataclass
class Outcome:
    """What an operation says beside its result: its status, where that varies, and whether it is a replay."""

    status: int | None = None
    replayed: bool = False


@dataclass(frozen=True)
class Context:
    """One operation's view of the request. `transaction` is set while it changes something.

    `precondition` is what must hold of the row to be changed, once it is locked. `prepared` is what the
    operation's `prepare` yielded before the transaction began. `owners_only` says that the operation is for
    owners of the workspace that it changes, which `resolvers/operations/access.py` checks.
    """

    services: Services
    caller: Caller
    outcome: Outcome = field(default_factory=Outcome)
    if_match: str | None = None
    precondition: Callable[[], Awaitable[None]] | None = None
    selection: frozenset[str] | None = None
    transaction: AsyncConnection | None = None
    prepared: Any = None
    owners_only: bool = False
    afterwards: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    @property
    def principal(self) -> Principal:
        """Who asks. Raises `Unauthorized` where nobody proved to be anyone."""
        if self.caller.principal is None:
            raise Unauthorized
        return self.caller.principal

    def wants(self, path: str) -> bool:
        """Whether the caller will see the field at `path`, like `meta.total`; REST sees all."""
        return self.selection is None or path in self.selection

    @asynccontextmanager
    async def read(self, *, replica: bool = False) -> AsyncIterator[AsyncConnection]:
        """For one statement; inside a change, the change's own transaction."""
        if self.transaction is not None:
            yield self.transaction
            return
        async with self.caller.units, self.services.database.read(replica=replica) as connection:
            yield connection

    @asynccontextmanager
    async def snapshot(self, *, replica: bool = False) -> AsyncIterator[AsyncConnection]:
        """For several statements that must agree; inside a change, the change's own transaction."""
        if self.transaction is not None:
            yield self.transaction
            return
        async with self.caller.units, self.services.database.snapshot(replica=replica) as connection:
            yield connection

    @asynccontextmanager
    async def change(self) -> AsyncIterator["Context"]:
        """One unit of work: commits when its block ends, rolls back when it raises.

        What was put into `afterwards` runs once the commit is done.
        """
        afterwards: list[Callable[[], Awaitable[None]]] = []
        async with self.caller.units, self.services.database.write() as connection:
            yield replace(self, transaction=connection, afterwards=afterwards)
        for action in afterwards:
            await action()

    @property
    def connection(self) -> AsyncConnection:
        """The connection of the change in progress."""
        if self.transaction is None:
            raise RuntimeError("This is only for an operation that changes something.")
        return self.transaction
