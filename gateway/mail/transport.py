"""The interface of ways to send emails, and the errors that they raise."""

from email.message import EmailMessage
from typing import Protocol


class NotSent(Exception):
    """An email was not accepted. The text is logged, so it contains no address and no credential."""


class Down(NotSent):
    """The transport does not work at the moment: no other email would be accepted either."""


class Deferred(NotSent):
    """This email is not accepted now, but may be later."""


class Refused(NotSent):
    """This email will never be accepted."""


class Transport(Protocol):
    """A way to send emails; it connects when needed."""

    async def wait_for_turn(self) -> None:
        """Return when another email may be sent."""

    async def send(self, message: EmailMessage) -> None:
        """Raises `NotSent`."""

    async def check(self) -> str:
        """Describe where emails go. Raises `Down`."""

    async def close(self) -> None:
        """Close the connection, if there is one."""
