"""`/api/file-share-payments/`."""

from resolvers.file_shares import payments as file_share_payments
from rest_compat.routing.router import Router

router = Router("/file-share-payments", "File-share payments", "Payments for file-share sessions.")
router.get("/", file_share_payments.list_file_share_payments)
router.get("/{id}", file_share_payments.get_file_share_payment)
router.post("/{id}/refund", file_share_payments.refund_payment, status=200)
