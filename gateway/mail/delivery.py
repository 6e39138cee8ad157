"""Delivery: several processes at once claim emails that are due and retry each until it is accepted."""

import asyncio
from collections import Counter
from datetime import timedelta
from email.headerregistry import Address
from typing import TYPE_CHECKING

import structlog

from gateway.mail.messages import compose
from gateway.mail.transport import Deferred, Down, Refused, Transport
from storage.clock import now
from storage.engine.database import Database
from storage.queues.mails import MAILS, NO_RECIPIENT, forget_mail
from storage.tables.mails import MailRow

if TYPE_CHECKING:
    from gateway.monitoring.tracing import Tracing

log = structlog.get_logger("duograph.mail")

MAILS_IN_A_PIECE = 50
SENDING_TAKES_AT_MOST = timedelta(minutes=1)
FIRST_WAIT = timedelta(seconds=10)
LONGEST_WAIT = timedelta(hours=1)
GIVE_UP_AFTER = timedelta(days=1)


class Delivery:
    """Sends the emails in `database` over `transport`, from `sender`.

    `outcomes` counts attempts that ended as `sent`, `postponed` or `given_up`.
    """

    def __init__(
        self,
        database: Database,
        transport: Transport,
        sender: Address,
        outcomes: Counter[str] | None = None,
        tracing: "Tracing | None" = None,
    ) -> None:
        self._database = database
        self._transport = transport
        self._sender = sender
        self._outcomes = Counter() if outcomes is None else outcomes
        self._tracing = tracing

    async def run(self) -> bool:
        """Send up to 50 of the emails that are due. Returns whether more may be ready to send.

        An email is claimed before it is sent, and its row is deleted afterwards. If the process dies in
        between, the email is claimed again later: it may arrive twice under the same Message-ID, but is never
        lost.
        """
        try:
            for _ in range(MAILS_IN_A_PIECE):
                mail = await self._claim()
                if mail is None or not await self._deliver(mail):
                    return False
            return True
        finally:
            await self._transport.close()

    async def _claim(self) -> MailRow | None:
        async with self._database.read() as connection:
            if not await MAILS.has_work(connection):
                return None
        await self._transport.wait_for_turn()
        async with self._database.write() as connection:
            return next(iter(await MAILS.claim(connection)), None)

    async def _deliver(self, mail: MailRow) -> bool:
        """Send one email. Returns whether it makes sense to try others."""
        if mail.recipient == NO_RECIPIENT:
            await self._forget(mail)
            return True
        if self._tracing is None or (span := self._tracing.begin_delivery(mail.attempts)) is None:
            return await self._try(mail)
        before = self._outcomes.copy()
        try:
            return await self._try(mail)
        finally:
            span.end(outcome=next(iter(self._outcomes - before), "interrupted"))

    async def _try(self, mail: MailRow) -> bool:
        try:
            message = compose(mail, self._sender)
            async with asyncio.timeout(SENDING_TAKES_AT_MOST.total_seconds()):
                await self._transport.send(message)
        except (Refused, ValueError) as error:
            await self._give_up(mail, error)
        except Deferred as error:
            await self._postpone(mail, error)
        except (Down, TimeoutError) as error:
            await self._postpone(mail, error)
            return False
        else:
            await self._forget(mail)
            self._outcomes["sent"] += 1
            log.info("mail sent", mail=str(mail.id), attempts=mail.attempts)
        return True

    async def _postpone(self, mail: MailRow, error: Exception) -> None:
        wait = min(FIRST_WAIT * 2 ** min(mail.attempts - 1, 20), LONGEST_WAIT)
        if now() + wait > mail.created_at + GIVE_UP_AFTER:
            await self._give_up(mail, error)
            return
        async with self._database.write() as connection:
            await MAILS.postpone(connection, mail, now() + wait)
        self._outcomes["postponed"] += 1
        log.warning("mail postponed", wait_seconds=wait.total_seconds(), **_log_fields(mail, error))

    async def _give_up(self, mail: MailRow, error: Exception) -> None:
        await self._forget(mail)
        self._outcomes["given_up"] += 1
        log.error("mail given up", **_log_fields(mail, error))

    async def _forget(self, mail: MailRow) -> None:
        async with self._database.write() as connection:
            await forget_mail(connection, mail)


def _log_fields(mail: MailRow, error: Exception) -> dict[str, object]:
    """The fields of a log line: never the address, the email's text or the server's reply."""
    reason = str(error) if isinstance(error, Down | Deferred | Refused) else type(error).__name__
    return {"mail": str(mail.id), "attempts": mail.attempts, "reason": reason}
