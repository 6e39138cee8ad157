"""Emails to a mail server."""

from asyncio import CancelledError
from email.message import EmailMessage

from aiolimiter import AsyncLimiter
from aiosmtplib import (
    SMTP,
    SMTPDataError,
    SMTPException,
    SMTPNotSupported,
    SMTPRecipientsRefused,
    SMTPResponseException,
)

from gateway.mail.transport import Deferred, Down, NotSent, Refused
from gateway.settings.values.mail_addresses import SmtpAddress

PATIENCE_SECONDS = 20


class SmtpTransport:
    """One connection, kept open while there are emails; sends at most `per_minute` of them in any minute.

    A connection that begins unencrypted is upgraded if the server offers STARTTLS, and the server's
    certificate is checked; a password is sent to another machine only over an encrypted connection.
    """

    def __init__(self, address: SmtpAddress, per_minute: int) -> None:
        self._address = address
        self._turns = AsyncLimiter(per_minute)
        self._client = SMTP(
            hostname=address.host, port=address.port, use_tls=address.use_tls, timeout=PATIENCE_SECONDS
        )

    async def wait_for_turn(self) -> None:
        await self._turns.acquire()

    async def send(self, message: EmailMessage) -> None:
        await self._connect()
        try:
            await self._client.send_message(message)
        except CancelledError:
            # QUIT is not possible in the middle of the dialogue.
            self._client.close()
            raise
        except (SMTPException, OSError, ValueError) as error:
            raise _outcome(error) from error

    async def check(self) -> str:
        await self._connect()
        encrypted = self._client.get_transport_info("sslcontext") is not None
        await self.close()
        return f"{self._address.host} answers{'' if encrypted else ', without encryption'}"

    async def close(self) -> None:
        try:
            if self._client.is_connected:
                await self._client.quit()
        except (SMTPException, OSError):
            # QUIT failed, so the connection is dropped without it.
            self._client.close()

    async def _connect(self) -> None:
        if self._client.is_connected:
            return
        try:
            await self._client.connect()
            if self._address.username is not None:
                self._check_encryption()
                await self._client.login(self._address.username, self._address.password)
        except (SMTPException, OSError) as error:
            self._client.close()
            raise Down(_reason(error)) from error

    def _check_encryption(self) -> None:
        if self._client.get_transport_info("sslcontext") is None and not self._address.is_loopback:
            raise SMTPNotSupported("no encryption is offered, so the password is not sent")


def _outcome(error: Exception) -> NotSent:
    """What a failure means for the email: a 5xx status about it or its recipient is final."""
    if isinstance(error, SMTPRecipientsRefused):
        code = error.recipients[0].code
        return Refused(f"recipient, {code}") if code >= 500 else Deferred(f"recipient, {code}")
    if isinstance(error, SMTPDataError):
        return Refused(_reason(error)) if error.code >= 500 else Deferred(_reason(error))
    if isinstance(error, SMTPNotSupported | ValueError):
        return Refused(_reason(error))
    return Down(_reason(error))


def _reason(error: Exception) -> str:
    """The part of an error that may be logged: servers repeat addresses and contents in their replies."""
    if isinstance(error, SMTPResponseException):
        return f"{type(error).__name__}, {error.code}"
    return f"{type(error).__name__}: {error}" if isinstance(error, SMTPNotSupported) else type(error).__name__
