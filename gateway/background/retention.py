"""Deletes what has ended, once the time in `storage/retention/rules.py` is over, and deleted workspaces."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from gateway.background.tasks import BackgroundTask
from resolvers.operations.context import Services
from resolvers.workspaces.removal import remove_deleted_workspaces
from storage.engine.database import Database
from storage.retention.deletion import delete_ended
from storage.retention.rules import REFRESH_ANSWERS, RULES
from storage.retention.trimming import trim
from storage.tables.changes import ChangeRow

MINUTE, HOUR = 60, 3600


def expiry_tasks(database: Database, changes_days: int) -> list[BackgroundTask]:
    """The tasks that delete rows that have ended; those of refreshes are secrets and go first."""
    others = [
        replace(rule, kept_for=timedelta(days=changes_days)) if rule.model is ChangeRow else rule
        for rule in RULES
        if rule is not REFRESH_ANSWERS
    ]
    return [
        BackgroundTask("refresh answers", partial(delete_ended, database, [REFRESH_ANSWERS]), MINUTE),
        BackgroundTask("retention", partial(delete_ended, database, others), HOUR),
        BackgroundTask("trim", partial(trim, database), HOUR),
    ]


def removal_tasks(services: Services) -> list[BackgroundTask]:
    """The task that removes what deleted workspaces had."""
    return [BackgroundTask("deleted workspaces", partial(remove_deleted_workspaces, services), MINUTE)]
