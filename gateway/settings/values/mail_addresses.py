"""Email addresses in settings: the mail server's and the sender's."""

from dataclasses import dataclass, field
from email.headerregistry import Address
from email.utils import parseaddr
from ipaddress import ip_address
from typing import Annotated, Self
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, SecretStr

from storage.emails import ascii_domain

_PORT, _PORT_WITH_PASSWORD, _PORT_WITH_TLS = 25, 587, 465


@dataclass(frozen=True)
class SmtpAddress:
    """The server's address and our account there. `use_tls` encrypts from the first byte on."""

    host: str
    port: int
    use_tls: bool
    username: str | None = None
    password: str = field(default="", repr=False)

    @classmethod
    def parse(cls, url: str) -> Self:
        """`smtp://USER:PASSWORD@HOST:PORT`, or `smtps://`. Raises `ValueError` without repeating it."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError:
            raise ValueError("its port should be a number up to 65535") from None
        if parts.scheme not in ("smtp", "smtps") or not parts.hostname:
            raise ValueError("it should begin with smtp:// or smtps:// and a host")
        if parts.path.strip("/") or parts.query or parts.fragment:
            raise ValueError("nothing should follow its host and port")
        use_tls, username = parts.scheme == "smtps", parts.username and unquote(parts.username)
        usual = _PORT_WITH_TLS if use_tls else _PORT_WITH_PASSWORD if username else _PORT
        password = unquote(parts.password or "")
        return cls(parts.hostname, usual if port is None else port, use_tls, username, password)

    @property
    def is_loopback(self) -> bool:
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def _check_smtp(url: SecretStr) -> SecretStr:
    SmtpAddress.parse(url.get_secret_value())
    return url


SmtpUrl = Annotated[SecretStr, AfterValidator(_check_smtp)]


def parse_sender(text: str) -> Address:
    """`name@example.com` or `Name <name@example.com>`. Raises `ValueError`."""
    name, address = parseaddr(text)
    return parse_address(address, name)


def parse_address(address: str, name: str = "") -> Address:
    """The address with its domain in ASCII, which every mail server accepts. Raises `ValueError`."""
    local, _, domain = address.rpartition("@")
    if not local or not domain:
        raise ValueError("it should be an address, like Duograph <duograph@example.com>")
    return Address(name, local, ascii_domain(domain))


def _check_sender(text: str) -> str:
    parse_sender(text)
    return text


Sender = Annotated[str, AfterValidator(_check_sender)]
