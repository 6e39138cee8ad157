"""What delivery asks of a way to send mails, and how one says that it could not."""

from email.message import EmailMessage
from typing import Protocol


class NotSent(Exception):
    """A mail was not taken. The text names no address and no credential, as it is logged."""


class Down(NotSent):
    """The way itself does not work now: no other mail would be taken either."""


class Deferred(NotSent):
    """This mail is not taken now, but may be later."""


class Refused(NotSent):
    """This mail will never be taken."""


class Transport(Protocol):
    """A way to send mails; it connects when it has to."""

    async def wait_for_turn(self) -> None:
        """Return when another mail may be sent."""

    async def send(self, message: EmailMessage) -> None:
        """Raises `NotSent`."""

    async def check(self) -> str:
        """Say in words where mails go. Raises `Down`."""

    async def close(self) -> None:
        """Let go of the connection, if there is one."""
