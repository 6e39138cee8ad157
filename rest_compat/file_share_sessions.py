"""`/api/file-share-sessions/`."""

from resolvers.file_shares import backfill as file_share_backfill
from resolvers.file_shares import payments as file_share_payments
from resolvers.file_shares import sessions as file_share_sessions
from rest_compat.routing.router import Router

router = Router(
    "/file-share-sessions",
    "File-share sessions",
    "Sales of shares: each session is one, with its downloads and payments.",
)
router.post("/", file_share_sessions.create_file_share_session)
router.get("/", file_share_sessions.list_file_share_sessions)
router.post("/ingest", file_share_backfill.ingest_file_share_sessions)
router.get("/{id}", file_share_sessions.get_file_share_session)
router.post("/{id}/downloads", file_share_sessions.record_download)
router.post("/{id}/payments", file_share_payments.record_payment)
router.post("/{id}/complete", file_share_sessions.complete_file_share_session, status=200)
router.post("/{id}/expire", file_share_sessions.expire_file_share_session, status=200)
