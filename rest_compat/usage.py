"""`/api/usage/`."""

from resolvers import usage
from rest_compat.routing.router import Router

router = Router("/usage", "Usage", "What the clients of a workspace use of the API, by day.")
router.get("/", usage.list_usage)
