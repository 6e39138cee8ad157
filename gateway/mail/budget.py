"""How many emails may go to one recipient, or be sent for one workspace or user, in any hour; and how many
invitations in any day.
"""

from collections import Counter
from hashlib import sha256
from uuid import UUID

from gateway.rate_limits.limits import RateLimiter
from storage.emails import fold_email
from storage.queues.mails import Mail

WINDOW_SECONDS = 3600
DAY_SECONDS = 24 * 3600


class MailBudget:
    """Counts emails to people who did not ask for them; a limit of 0 means no limit.

    Urgent emails have budgets of their own, so that a flood of other emails does not block sign-in codes.
    """

    def __init__(
        self,
        limiter: RateLimiter,
        per_recipient: int,
        per_workspace: int,
        per_user: int,
        *,
        days: RateLimiter,
        invitations: int,
        refusals: Counter[str] | None = None,
    ) -> None:
        """`days` counts a workspace's `invitations` in windows of a day. `refusals` counts, as `mails`, the
        emails that did not fit.
        """
        self._limiter = limiter
        self._limits = (per_recipient, per_workspace, per_user)
        self._refusals = Counter() if refusals is None else refusals
        self._days, self._invitations = days, invitations

    async def charge(self, mail: Mail, workspace_id: UUID, user_id: UUID | None) -> int:
        """Whole seconds until the email may be sent; 0 if it was charged and may be sent now."""
        recipient = sha256(fold_email(mail.to).encode()).hexdigest()
        kind = "urgent" if mail.is_urgent else "other"
        for name, limit in zip((recipient, workspace_id, user_id), self._limits, strict=True):
            if name is not None:
                charge = await self._limiter.charge(f"mails:{kind}:{name}", 1, limit)
                if not charge.allowed:
                    self._refusals["mails"] += 1
                    return charge.retry_after
        return 0

    async def charge_invitation(self, workspace_id: UUID) -> int:
        """Whole seconds until the workspace may invite again; 0 if the invitation was charged."""
        charge = await self._days.charge(f"invitations:{workspace_id}", 1, self._invitations)
        if not charge.allowed:
            self._refusals["mails"] += 1
        return charge.retry_after
