"""From a row of mail to the message that is sent."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, parseaddr

from storage.rows import Values


def parse_sender(text: str) -> Address:
    """`name@example.com` or `Name <name@example.com>`. Raises `ValueError`."""
    name, spec = parseaddr(text)
    address = Address(name, addr_spec=spec)
    if not address.username or not address.domain:
        raise ValueError("it should be an address, like Duograph <duograph@example.com>")
    return address


def compose(mail: Values, sender: Address) -> EmailMessage:
    """The message; sent again it has the same Message-ID. Raises `ValueError` for what no mail can say."""
    message = EmailMessage(policy=SMTP)
    message["From"] = sender
    message["To"] = Address(addr_spec=mail["recipient"])
    message["Subject"] = mail["subject"]
    message["Date"] = format_datetime(mail["created_at"])
    message["Message-ID"] = f"<{mail['id']}@{sender.domain}>"
    # RFC 3834: nobody's holiday notice should answer.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail["text"])
    if mail["html"] is not None:
        message.add_alternative(mail["html"], subtype="html")
    return message
