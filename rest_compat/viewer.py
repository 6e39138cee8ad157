"""`/api/viewer`."""

from resolvers.accounts import viewer
from rest_compat.router import Router

router = Router("/viewer", "Viewer")
router.get("", viewer.get_viewer)
