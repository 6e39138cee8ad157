"""The background task that sends emails, as configured by the settings."""

from pathlib import Path

from gateway.background.tasks import BackgroundTask
from gateway.mail.delivery import Delivery
from gateway.mail.outbox import Outbox
from gateway.mail.smtp import SmtpTransport
from gateway.mail.transport import Transport
from gateway.monitoring.monitoring import Monitoring
from gateway.settings.settings import Settings
from gateway.settings.values.mail_addresses import SmtpAddress, parse_sender
from storage.engine.database import Database

# Emails of this process wake the task; those of a command, and postponed ones, are found within this time.
LOOKS_EVERY_SECONDS = 5


def mail_task(settings: Settings, database: Database, monitoring: Monitoring) -> BackgroundTask:
    transport, sender = make_transport(settings), parse_sender(settings.mail_from)
    delivery = Delivery(database, transport, sender, monitoring.mails, monitoring.tracing)
    return BackgroundTask("mail", delivery.run, LOOKS_EVERY_SECONDS)


def make_transport(settings: Settings) -> Transport:
    """To the mail server, or to files if none is configured."""
    if settings.smtp_url is None:
        return Outbox(Path(settings.outbox))
    address = SmtpAddress.parse(settings.smtp_url.get_secret_value())
    return SmtpTransport(address, settings.mail_rate)
