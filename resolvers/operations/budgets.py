"""What a caller may use of the gateway and of others' mailboxes."""

from typing import Protocol
from uuid import UUID

from storage.queues.mails import Mail


class Budget(Protocol):
    """The rate limits that calls are charged to; `limit` is the subject's own, None for the default."""

    async def charge(
        self, subject: str, cost: int, limit: int | None, *, restricted: bool, roof: str | None = None
    ) -> None:
        """Raises `RateLimited` if `cost` calls do not fit the window of the subject or of its `roof`."""

    def largest(self, limit: int | None) -> int | None:
        """The highest cost that could ever fit; None without a limit."""

    async def charge_answer(self, size: int) -> None:
        """Charge what an answer of so many bytes costs beyond the request, whether or not it fits."""

    async def charge_database(self) -> None:
        """Charge for how long the database has worked for the request, whether or not that fits."""

    def report(self) -> dict[str, int | None]:
        """The calls `requested` so far, the `limit` and how many are `remaining`; null without a limit."""


class MailBudget(Protocol):
    """The limits for mails to people who did not request them."""

    async def charge(self, mail: Mail, workspace_id: UUID, user_id: UUID | None) -> int:
        """Whole seconds until the mail may be sent; 0 if it was charged and may be sent now."""

    async def charge_invitation(self, workspace_id: UUID) -> int:
        """Whole seconds until the workspace may invite again; 0 if the invitation was charged."""
