"""`/api/deletions/`."""

from resolvers import deletions
from rest_compat.routing.router import Router

router = Router(
    "/deletions", "Deletions", "What was deleted in the last 90 days, for systems that keep a copy."
)
router.get("/", deletions.list_deletions)
