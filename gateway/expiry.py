"""What is kept for a retry goes once none can come any more."""

from functools import partial

from gateway.background import BackgroundTask
from oauth.refresh_answers import drop_expired_answers
from resolvers.operations.idempotency import drop_expired
from storage.database import Database

MINUTE, HOUR = 60, 3600


def expiry_tasks(database: Database) -> list[BackgroundTask]:
    """Delete expired rows, in which secrets may be sealed."""
    return [
        BackgroundTask("refresh answers", partial(drop_expired_answers, database), MINUTE),
        BackgroundTask("idempotency keys", partial(drop_expired, database), HOUR),
    ]
