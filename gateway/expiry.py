"""Deletes answers that are stored for retries, once no retry can use them."""

from functools import partial

from gateway.background import BackgroundTask
from oauth.refresh_answers import drop_expired_answers
from resolvers.operations.idempotency import drop_expired
from storage.database import Database

MINUTE, HOUR = 60, 3600


def expiry_tasks(database: Database) -> list[BackgroundTask]:
    """The tasks that delete expired rows, which may contain sealed secrets."""
    return [
        BackgroundTask("refresh answers", partial(drop_expired_answers, database), MINUTE),
        BackgroundTask("idempotency keys", partial(drop_expired, database), HOUR),
    ]
