"""A real mail server on the loop of the test: it can be down, refuse, encrypt, and ask for a password."""

import asyncio
import ssl
from collections import deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HOST = "127.0.0.1"
# The answer of a server that closes the connection instead.
HANGS_UP = "421 goodbye"
# On some clocks, each module of tests begins on another day.
YEARS = timedelta(days=3650)
USER, PASSWORD = "ada", "p@ss:word/"


@dataclass
class MailServer:
    """`answers` are given to the next mails instead of taking them; `sent_by` says who had signed in.

    With `certificate` it offers STARTTLS, with `tls_first` too it speaks nothing else.
    """

    certificate: Path | None = None
    tls_first: bool = False
    takes_only_users: bool = False
    takes_utf8: bool = True
    port: int = 0
    mails: list[EmailMessage] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    sent_by: list[tuple[object, bool]] = field(default_factory=list)
    answers: deque[str] = field(default_factory=deque)
    arrived: asyncio.Condition = field(default_factory=asyncio.Condition)
    # An event here holds every mail back until it is set, after the server has read it.
    holds: asyncio.Event | None = None
    _server: asyncio.Server | None = None

    async def start(self) -> "MailServer":
        """Listen, on the same port again after a stop."""
        tls = self._tls()
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: SMTP(
                self,
                hostname="mail.example.com",
                enable_SMTPUTF8=self.takes_utf8,
                tls_context=None if self.tls_first else tls,
                auth_required=self.takes_only_users,
                auth_require_tls=not self.tls_first and tls is not None,
                authenticator=self._authenticate,
                loop=loop,
            ),
            HOST,
            self.port,
            ssl=tls if self.tls_first else None,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def wait_for(self, number: int) -> list[EmailMessage]:
        """The mails, once there are so many."""
        async with self.arrived:
            await self.arrived.wait_for(lambda: len(self.mails) >= number)
        return self.mails

    async def handle_RCPT(  # noqa: N802
        self, server: Any, session: Any, envelope: Any, address: str, options: Any
    ) -> str:
        if self.answers and self.answers[0].startswith("RCPT "):
            return self.answers.popleft().removeprefix("RCPT ")
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:  # noqa: N802
        if self.answers:
            answer = self.answers.popleft()
            if answer == HANGS_UP:
                server.transport.abort()
            return answer
        async with self.arrived:
            self.mails.append(message_from_bytes(envelope.content, policy=policy.SMTP))
            self.recipients += envelope.rcpt_tos
            self.sent_by.append((session.auth_data, session.ssl is not None))
            self.arrived.notify_all()
        if self.holds is not None:
            await self.holds.wait()
        return "250 OK"

    def _authenticate(
        self, server: Any, session: Any, envelope: Any, mechanism: str, login: Any
    ) -> AuthResult:
        fits = (login.login, login.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=fits, handled=False, auth_data=login.login.decode() if fits else None)

    def _tls(self) -> ssl.SSLContext | None:
        if self.certificate is None:
            return None
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(self.certificate)
        return context


def make_certificate(path: Path) -> Path:
    """A certificate for 127.0.0.1 that signs itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "mail")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - YEARS)
        .not_valid_after(datetime.now(UTC) + YEARS)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path.write_bytes(private + certificate.public_bytes(serialization.Encoding.PEM))
    return path
