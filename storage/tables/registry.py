"""Imports all tables, so that `METADATA` is complete for migrations and tests."""

from sqlmodel import SQLModel

from storage.tables import (  # noqa: F401
    credentials,
    custom_fields,
    customers,
    events,
    file_share_sessions,
    files,
    idempotency_keys,
    mailed_links,
    mails,
    metric_cells,
    metrics,
    oauth_clients,
    oauth_grants,
    portal_codes,
    refresh_answers,
    second_factors,
    second_steps,
    shares,
    sign_in_attempts,
    signing_keys,
    users,
    workspaces,
)

METADATA = SQLModel.metadata
