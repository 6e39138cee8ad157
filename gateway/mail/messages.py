"""From a row of mail to the message that is sent."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTPUTF8
from email.utils import format_datetime, parseaddr
from typing import Annotated

from pydantic import AfterValidator

from storage.emails import ascii_domain
from storage.rows import Values


def parse_sender(text: str) -> Address:
    """`name@example.com` or `Name <name@example.com>`. Raises `ValueError`."""
    name, address = parseaddr(text)
    return _parse(address, name)


def _parse(address: str, name: str = "") -> Address:
    """The address with its domain in ASCII, as every mail server takes it. Raises `ValueError`."""
    local, _, domain = address.rpartition("@")
    if not local or not domain:
        raise ValueError("it should be an address, like Duograph <duograph@example.com>")
    return Address(name, local, ascii_domain(domain))


def _check(text: str) -> str:
    parse_sender(text)
    return text


Sender = Annotated[str, AfterValidator(_check)]


def compose(mail: Values, sender: Address) -> EmailMessage:
    """The message; sent again it has the same Message-ID. Raises `ValueError` for what no mail can say."""
    message = EmailMessage(policy=SMTPUTF8)
    message["From"] = sender
    message["To"] = _parse(mail["recipient"])
    message["Subject"] = mail["subject"]
    message["Date"] = format_datetime(mail["created_at"])
    message["Message-ID"] = f"<{mail['id']}@{sender.domain}>"
    # RFC 3834: nobody's holiday notice should answer.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail["text"])
    if mail["html"] is not None:
        message.add_alternative(mail["html"], subtype="html")
    return message
