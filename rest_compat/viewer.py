"""`/api/viewer`."""

from resolvers.accounts import viewer
from rest_compat.routing.router import Router

router = Router("/viewer", "Viewer", "Who is calling, and with which scopes.")
router.get("", viewer.get_viewer)
