"""How long rows are kept after their end: one rule for each kind of row that ends."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from sqlalchemy import Column, ColumnElement, Date, Table, exists, not_
from sqlmodel import SQLModel

from storage.enums import CredentialKind
from storage.rows.rows import table_of
from storage.tables.accounts.mailed_links import MailedLinkRow
from storage.tables.accounts.second_steps import AnsweredChallengeRow, SecondStepRow
from storage.tables.changes import ChangeRow
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_client_documents import OAuthClientDocumentRow
from storage.tables.credentials.oauth_grants import OAuthGrantRow
from storage.tables.credentials.refresh_answers import RefreshAnswerRow
from storage.tables.credentials.signing_keys import SigningKeyRow
from storage.tables.credentials.usage import UsageRow
from storage.tables.customers.customers import CustomerSessionRow
from storage.tables.customers.portal_codes import PortalCodeRow
from storage.tables.idempotency_keys import IdempotencyKeyRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow, WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookSecretRow
from storage.tables.workspaces.deletions import DeletionRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow

AT_ONCE, HOUR, DAY = timedelta(), timedelta(hours=1), timedelta(days=1)
# What other modules tell callers, or decide by.
RETRIES_KEPT_FOR = DAY
DELETIONS_KEPT_FOR = 90 * DAY
CHANGES_KEPT_FOR = 30 * DAY
WEBHOOKS_KEPT_FOR = 30 * DAY
DOCUMENTS_KEPT_FOR = 90 * DAY
LINKS_KEPT_FOR = 30 * DAY
USAGE_KEPT_FOR = 400 * DAY


@dataclass(frozen=True)
class Rule:
    """Rows of `model` with the values `having` are deleted `kept_for` after the time in the column `ends_at`.

    `rows` and `why` are for docs/retention.md. `dependents` is a table, and its column that refers to the
    `id` of these rows: its rows are deleted with them, once none of them is valid any more. The row of each
    workspace with the highest value in the column `keeps_highest` stays. `setting` is the name of the
    setting that changes `kept_for`.
    """

    model: type[SQLModel]
    ends_at: str
    kept_for: timedelta
    rows: str
    why: str
    having: Mapping[str, Any] = field(default_factory=dict)
    dependents: tuple[type[SQLModel], str] | None = None
    keeps_highest: str | None = None
    setting: str | None = None

    @property
    def table(self) -> Table:
        return table_of(self.model)

    @property
    def end(self) -> Column[Any]:
        return self.table.c[self.ends_at]

    def are_over(self, at: datetime) -> Iterator[ColumnElement[bool]]:
        """Yield the conditions on the rows that are to be deleted at this moment."""
        yield from self.indexed(at)
        yield from (self.table.c[name].is_(None) for name, value in self.having.items() if value is None)
        if self.dependents is not None:
            # The release before, which may serve after the migration, renews a token but not its grant.
            yield not_(self._refers(*self.dependents, at))

    def indexed(self, at: datetime) -> Iterator[ColumnElement[bool]]:
        """Yield those by which rows are found: with `IS NULL` no database reads an index in order."""
        yield from (self.table.c[name] == value for name, value in self.having.items() if value is not None)
        yield self.end < self._last_end(at)
        if self.keeps_highest is not None:
            yield self._is_surpassed(self.keeps_highest)

    def _refers(self, model: type[SQLModel], name: str, at: datetime) -> ColumnElement[bool]:
        """Whether a row of `model` that is valid at this moment refers to the row."""
        columns = table_of(model).c
        is_valid = columns.revoked_at.is_(None) & (columns.expires_at > at)
        return exists().where(columns[name] == self.table.c.id, is_valid)

    def _is_surpassed(self, name: str) -> ColumnElement[bool]:
        """Whether another row of the workspace has a higher value in the column."""
        other = self.table.alias()
        is_higher = other.c[name] > self.table.c[name]
        return exists().where(other.c.workspace_id == self.table.c.workspace_id, is_higher)

    def _last_end(self, at: datetime) -> datetime | date:
        last = at - self.kept_for
        return last.date() if isinstance(self.end.type, Date) else last


def _of_credentials(kinds: Mapping[CredentialKind, str], kept_for: timedelta, why: str) -> Iterator[Rule]:
    for kind, rows in kinds.items():
        for ends_at in ("expires_at", "revoked_at"):
            yield Rule(CredentialRow, ends_at, kept_for, rows, why, having={"kind": kind.value})


# Their answers are secrets, though sealed, so they are looked for each minute.
REFRESH_ANSWERS = Rule(
    RefreshAnswerRow, "expires_at", AT_ONCE, "answers to refreshes", "A client retries within 30 seconds."
)
RULES: tuple[Rule, ...] = (
    REFRESH_ANSWERS,
    Rule(
        WebhookDeliveryRow,
        "created_at",
        WEBHOOKS_KEPT_FOR,
        "webhook deliveries",
        "Until then it can be looked up, and sent again.",
    ),
    Rule(
        WebhookAttemptRow,
        "created_at",
        WEBHOOKS_KEPT_FOR,
        "attempts of webhook deliveries, with what was sent and answered",
        "As for their deliveries.",
    ),
    Rule(
        WebhookSecretRow,
        "ends_at",
        AT_ONCE,
        "replaced secrets of webhook endpoints",
        "For 24 hours after a rotation the old one signs too.",
    ),
    Rule(
        IdempotencyKeyRow,
        "created_at",
        RETRIES_KEPT_FOR,
        "idempotency keys",
        "Retries are answered for 24 hours.",
    ),
    *_of_credentials(
        {
            CredentialKind.WORKSPACE_TOKEN: "workspace access tokens",
            CredentialKind.PERSONAL_TOKEN: "personal access tokens",
            CredentialKind.CLIENT_SECRET: "secrets of OAuth clients",
            CredentialKind.REGISTRATION_TOKEN: "registration access tokens",
        },
        USAGE_KEPT_FOR,
        "Usage names its token as long as it is kept, and an expired token can be given a new life.",
    ),
    *_of_credentials(
        {
            CredentialKind.ACCESS_TOKEN: "OAuth access tokens",
            CredentialKind.CUSTOMER_SESSION: "tokens of customer sessions",
            CredentialKind.BROWSER_SESSION: "browser sessions",
        },
        7 * DAY,
        "A report of a leaked one still finds its owner.",
    ),
    Rule(
        OAuthGrantRow,
        "ends_at",
        30 * DAY,
        "OAuth grants, with all of their codes and refresh tokens",
        "A token that is used again ends its grant, so all are kept until the last has ended.",
        dependents=(CredentialRow, "grant_id"),
    ),
    Rule(
        SigningKeyRow,
        "retired_at",
        730 * DAY,
        "retired signing keys",
        "They verify the `id_token_hint` of a sign-in, which may be old.",
    ),
    Rule(CustomerSessionRow, "expires_at", 7 * DAY, "customer sessions", "As for their tokens."),
    Rule(PortalCodeRow, "expires_at", HOUR, "portal codes", "Codes of the last hour are counted."),
    Rule(
        MailedLinkRow,
        "expires_at",
        LINKS_KEPT_FOR,
        "mailed links",
        "The page of an old link tells what became of it.",
    ),
    Rule(
        SecondStepRow,
        "expires_at",
        HOUR,
        "second steps of sign-ins",
        "Wrong codes of the last hour are counted.",
    ),
    Rule(
        AnsweredChallengeRow,
        "expires_at",
        AT_ONCE,
        "answered passkey challenges",
        "Such a challenge is refused anyway.",
    ),
    Rule(
        WorkspaceMemberRow,
        "expires_at",
        30 * DAY,
        "invitations",
        "Members see which ones have expired, and can renew them.",
        having={"user_id": None},
    ),
    Rule(
        DeletionRow,
        "created_at",
        DELETIONS_KEPT_FOR,
        "deletions",
        "Copies elsewhere follow them within this time.",
    ),
    Rule(
        ChangeRow,
        "at",
        CHANGES_KEPT_FOR,
        "changes",
        "Readers of the feed follow them within this time. The newest one of a workspace stays, so that its "
        "numbers go on.",
        keeps_highest="position",
        setting="DUOGRAPH_CHANGES_DAYS",
    ),
    Rule(
        OAuthClientDocumentRow,
        "last_used_at",
        DOCUMENTS_KEPT_FOR,
        "documents that were sent and never registered",
        "They are what a client may still register.",
        having={"is_registered": False},
    ),
    Rule(UsageRow, "day", USAGE_KEPT_FOR, "usage of a day", "It compares a year with the one before."),
)
# Columns that hold an end, and why no row is deleted because of it.
KEPT_FOR_GOOD = {
    ("file_share_sessions", "ended_at"): "a session is what a workspace reports about its business",
    ("recovery_codes", "used_at"): "ten for each user at most: new codes replace them",
}
