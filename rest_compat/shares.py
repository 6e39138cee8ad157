"""`/api/shares/`."""

from resolvers.shares import shares
from rest_compat.routing.router import Router

router = Router(
    "/shares", "Shares", "What a workspace sells or gives away: prices, images and custom fields."
)
router.post("/", shares.create_share)
router.get("/", shares.list_shares)
router.get("/{id}", shares.get_share)
router.patch("/{id}", shares.update_share)
router.delete("/{id}", shares.delete_share)
