"""The context of every resolver: the caller, access to the database, and the services of the process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar
from uuid import UUID

from oauth.actors import actor_of
from oauth.assumed import Assumed
from oauth.principals import Principal, workspace_of
from oauth.revocation.signed_reports import ReportKeys
from resolvers.operations.budgets import Budget, MailBudget
from resolvers.operations.outages import refused_change
from resolvers.operations.row_quotas import Quota, RowQuotas
from resolvers.operations.shapes.chosen import Chosen
from resolvers.operations.wishes import wish_for_rows, wish_to_go_apart
from schema.errors import Unauthorized
from schema.webhooks.services import NO_WEBHOOKS, WebhookServices
from storage.changes.followers import Followers
from storage.changes.kinds import ChangeKind
from storage.changes.log import log_of
from storage.dialects.sqlite.refusals import ChangesRefused
from storage.engine.connections import Connection
from storage.engine.database import Database
from storage.engine.payers import Payer
from storage.engine.statements.kept import Kept
from storage.nothing_to_await import DONE
from storage.objects.interface import ObjectStore
from storage.objects.scanning import Scanner
from storage.usage.document_counts import DocumentCounts
from storage.usage.usage import Usage, Used

UNITS_AT_A_TIME = 4

Result = TypeVar("Result")
# Of a kept statement, which a replica may answer.
Rows: TypeAlias = Coroutine[Any, Any, Sequence[Any]]
Connect: TypeAlias = Callable[[Payer | None], AbstractAsyncContextManager[Connection]]


class RequestWatch(Protocol):
    """Notes what a request does; there is none unless the gateway is monitored."""

    def operation(self, name: str, result: Awaitable[Any]) -> Awaitable[Any]:
        """The same result, of an operation that is noted when it is awaited."""

    def refused(self, statuses: Sequence[int]) -> None:
        """Note the errors of an answer whose own status does not show them."""


@dataclass(frozen=True)
class Services:
    """The services of the process, created once by the gateway.

    `base_url` and `auth_url` have no trailing slash; `secret_key` is for `storage.sealing`. `wake_delivery`
    starts the delivery of committed mails. `mails_for_new_workspaces` lets those not yet under review mail
    strangers. A customer's link to a file works for `download_life`. Pages link to the operator's
    `policies`, by name and address; `security_contact` is in security.txt. A `scanner` checks uploads.
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
    document_counts: DocumentCounts
    usage: Usage
    mails_for_new_workspaces: bool = False
    wake_delivery: Callable[[], None] = lambda: None
    quota: Quota = field(default_factory=Quota)
    row_quotas: RowQuotas = field(default_factory=RowQuotas)
    download_life: timedelta = timedelta(minutes=10)
    policies: Sequence[tuple[str, str]] = ()
    security_contact: str | None = None
    scanner: Scanner | None = None
    is_production: bool = False
    webhooks: WebhookServices = NO_WEBHOOKS
    followers: Followers = field(default_factory=Followers)


# Made for each request and changed by none; frozen, both would take three times as long to make.
@dataclass(slots=True, eq=False)
class Caller:
    """The request around an operation: its credential, its headers and its budget.

    `noted_principal` is that of a page, which calls operations for a copy of the caller. The units of work of
    the request are done for `payer`. An `assumed` credential is looked up with the first statement: nothing
    may be answered, changed or logged before `confirm`. `units` is set where several may run at once.
    `bytes_read` are those of the rows that were read for the answer, and `bytes_written` those of it that
    were counted before it was written. The actions in `after_response` run once the response has been sent,
    so its timing does not reveal them. What an operator does by a command is not in the log of the gateway.
    """

    principal: Principal | None
    budget: Budget
    address: str
    request_id: str
    idempotency_key: str | None = None
    credential: str | None = field(default=None, repr=False)
    assumed: Assumed | None = field(default=None, repr=False)
    units: asyncio.Semaphore | None = field(default=None, repr=False)
    after_response: list[Callable[[], Awaitable[None]]] = field(default_factory=list, repr=False)
    watch: RequestWatch | None = field(default=None, repr=False)
    bytes_read: int = 0
    bytes_written: int = 0
    payer: Payer | None = field(default=None, repr=False)
    noted_principal: Principal | None = field(default=None, repr=False)
    is_operator: bool = False

    @property
    def recognized(self) -> Principal | None:
        """Whose request it is, for the log; None until an `assumed` credential is confirmed."""
        if self.assumed is not None and not self.assumed.is_confirmed:
            return None
        return self.principal or self.noted_principal

    def confirm(self) -> Awaitable[None]:
        """Look the credential up, unless that was done. Raises `CredentialChanged`."""
        return DONE if self.assumed is None or self.assumed.is_confirmed else self.assumed.confirm()

    def once_confirmed(self, action: Callable[[], None]) -> None:
        """Do this once the credential is confirmed, which it is unless it was `assumed`; or never."""
        if self.assumed is None:
            action()
        else:
            self.assumed.once_confirmed(action)

    def limit_units(self) -> None:
        """From now on, at most `UNITS_AT_A_TIME` units of work run at a time; others wait."""
        self.units = asyncio.Semaphore(UNITS_AT_A_TIME)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """The turn of one unit of work."""
        return nullcontext() if self.units is None else self.units


@dataclass(slots=True)
class Outcome:
    """An operation's report besides its result: the status, if it varies, and whether it is a replay."""

    status: int | None = None
    replayed: bool = False


@dataclass(slots=True, eq=False)
class Context:
    """One operation's view of the request. `transaction` is set inside a change.

    `precondition` checks the row to be changed once it is locked. `prepared` is what the operation's
    `prepare` yielded before. `owners_only` restricts it to owners of the workspace. `chosen` narrows what is
    read of each object to what is written, and `places` has the values of its parameters; it `may_be_late`
    if a replica may answer it. One that `is_together` runs beside others, and `shared` is what streams read.
    """

    services: Services
    caller: Caller
    outcome: Outcome = field(default_factory=Outcome)
    if_match: str | None = None
    precondition: Callable[[], Awaitable[None]] | None = None
    selection: frozenset[str] | None = None
    chosen: Chosen | None = None
    places: Mapping[str, Any] = field(default_factory=dict)
    may_be_late: bool = True
    is_together: bool = False
    shared: Callable[..., Awaitable[Any]] | None = None
    transaction: Connection | None = None
    prepared: Any = None
    owners_only: bool = False
    causes: tuple[ChangeKind, ...] | None = None
    afterwards: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    @property
    def principal(self) -> Principal:
        """The authenticated caller. Raises `Unauthorized` if there is none."""
        if self.caller.principal is None:
            raise Unauthorized
        return self.caller.principal

    def note_joining(self, workspace_id: UUID) -> None:
        """From now on, the user who calls has access to this workspace too."""
        self.caller.principal = self.principal.after_joining(workspace_id)

    def note_leaving(self, workspace_id: UUID) -> None:
        """From now on, the user who calls has no access to this workspace."""
        self.caller.principal = self.principal.after_leaving(workspace_id)

    def count(self, used: Used | None) -> None:
        """Count what the request uses of the contract, once its credential is confirmed."""
        if self.caller.principal is None or used is None:
            return
        self.caller.once_confirmed(partial(self.services.usage.add, self.caller.principal.client, used))

    def wants(self, path: str) -> bool:
        """Whether the caller selected the field at `path`, like `meta.total`; REST selects all."""
        return self.selection is None or path in self.selection

    def selects_one(self, *paths: str) -> bool:
        """Whether the caller named one of these fields; REST names none."""
        return self.selection is not None and not self.selection.isdisjoint(paths)

    def fetch(self, kept: Kept, values: Mapping[str, Any], *, replica: bool = False) -> Rows:
        """The rows of a kept statement, as the driver returns them; inside a change, in its transaction."""
        if self.transaction is not None:
            return self.transaction.fetch(kept, values)
        if self.is_together:
            return wish_for_rows(kept, values, replica)
        assumed = self.caller.assumed
        if assumed is not None and assumed.is_open:
            return assumed.fetch(self._fetch, kept, values)
        return self._fetch(kept, values, replica)

    def _fetch(self, kept: Kept, values: Mapping[str, Any], replica: bool = False) -> Rows:
        replica_for, about = self._replica_for(replica), workspace_of(values)
        return self.services.database.fetch(
            kept, values, replica_for=replica_for, about=about, payer=self.caller.payer
        )

    async def go_apart(self) -> None:
        """Take a connection next, apart from the operations that run beside this one."""
        await self.caller.confirm()
        if self.is_together:
            await wish_to_go_apart()

    def read(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for one statement; inside a change, that of its transaction."""
        return self._connected(self.services.database.read)

    def snapshot(self) -> AbstractAsyncContextManager[Connection]:
        """A connection for several statements that must agree; inside a change, that of its transaction."""
        return self._connected(self.services.database.snapshot)

    @asynccontextmanager
    async def _connected(self, connect: Connect) -> AsyncIterator[Connection]:
        if self.transaction is not None:
            yield self.transaction
            return
        await self.go_apart()
        async with self.caller.turn(), connect(self.caller.payer) as connection:
            yield connection

    async def in_snapshot(
        self, work: Callable[[Connection], Awaitable[Result]], *, replica: bool = False
    ) -> Result:
        """What `work` makes of a `snapshot`; with `replica` it may run twice, so it changes nothing else."""
        if self.transaction is not None:
            raise RuntimeError("A change takes no second connection: read with that of its transaction.")
        await self.go_apart()
        async with self.caller.turn():
            return await self.services.database.in_snapshot(
                work, replica_for=self._replica_for(replica), payer=self.caller.payer
            )

    def _replica_for(self, replica: bool) -> tuple[UUID, ...] | None:
        """The workspaces whose last writes a replica must hold to answer the caller; None if none may."""
        has_one = replica and self.services.database.replica is not None
        return self.principal.all_workspace_ids if has_one else None

    @asynccontextmanager
    async def change(self) -> AsyncIterator["Context"]:
        """One transaction: commits when its block ends, rolls back when it raises.

        The actions in `afterwards` run after the commit. Raises `Unavailable` while the database is moved,
        and `NotPermitted` for rows beyond a quota.
        """
        await self.go_apart()
        afterwards: list[Callable[[], Awaitable[None]]] = []
        try:
            async with self.caller.turn(), self.services.database.write(self.caller.payer) as connection:
                log = log_of(connection)
                log.declare(actor_of(self.caller), self.causes)
                yield replace(self, transaction=connection, afterwards=afterwards)
                await self.services.row_quotas.check(connection)
        except ChangesRefused as refused:
            raise refused_change(refused) from None
        finally:
            # Whatever became of it: the answer to a commit may be lost.
            if self.services.database.replica is not None and self.caller.principal is not None:
                self.services.database.note_writes(self.caller.principal.all_workspace_ids)
        if log.workspace_ids:
            self.services.webhooks.wake(log.workspace_ids)
            self.services.followers.wake(log.workspace_ids)
        for action in afterwards:
            await action()

    @property
    def connection(self) -> Connection:
        """The connection of the change in progress."""
        if self.transaction is None:
            raise RuntimeError("There is no change in progress.")
        return self.transaction
