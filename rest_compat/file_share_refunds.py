"""`/api/file-share-refunds/`."""

from resolvers.file_shares import refunds as file_share_refunds
from rest_compat.routing.router import Router

router = Router("/file-share-refunds", "File-share refunds", "Refunds of payments.")
router.get("/", file_share_refunds.list_file_share_refunds)
router.get("/{id}", file_share_refunds.get_file_share_refund)
