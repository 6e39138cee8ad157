"""Builds the message that is sent from a row."""

from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTPUTF8

from gateway.settings.values.mail_addresses import parse_address
from storage.tables.mails import MailRow


def compose(mail: MailRow, sender: Address) -> EmailMessage:
    """The message; a retry has the same Message-ID. Raises `ValueError` for values that no email can have."""
    message = EmailMessage(policy=SMTPUTF8)
    message["From"] = sender
    message["To"] = parse_address(mail.recipient)
    message["Subject"] = mail.subject
    message["Date"] = mail.created_at
    message["Message-ID"] = f"<{mail.id}@{sender.domain}>"
    # RFC 3834: automatic replies, such as holiday notices, are not sent to us.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(mail.text)
    if mail.html is not None:
        message.add_alternative(mail.html, subtype="html")
    return message
