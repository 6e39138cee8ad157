"""The routes of workspaces: what each sells and to whom, its files, events, metrics and credentials."""

from resolvers import deletions, usage
from resolvers.changes import changes
from resolvers.credentials import workspace_access_tokens
from resolvers.customers import customers, members
from resolvers.customers import sessions as customer_sessions
from resolvers.events import events
from resolvers.events import ingestion as event_ingestion
from resolvers.file_shares import backfill as file_share_backfill
from resolvers.file_shares import downloads as file_share_downloads
from resolvers.file_shares import payments as file_share_payments
from resolvers.file_shares import refunds as file_share_refunds
from resolvers.file_shares import sessions as file_share_sessions
from resolvers.files import files
from resolvers.metrics import metrics
from resolvers.shares import custom_fields, shares
from resolvers.webhooks import deliveries as webhook_deliveries
from resolvers.webhooks import endpoints as webhook_endpoints
from resolvers.webhooks import trials as webhook_trials
from resolvers.workspaces import copying, deletion, workspaces
from resolvers.workspaces import members as workspace_members
from rest_compat.routing.metrics import CsvEndpoint, LongEndpoint
from rest_compat.routing.router import Router
from rest_compat.routing.streams import StreamEndpoint
from schema.changes.changes import ChangeStreamQuery
from schema.kit.pages import Page
from schema.metrics.query import MetricsExportQuery
from schema.workspaces.workspaces import WorkspaceItem

router = Router()

router.about("Workspaces", "Workspaces: each owns its shares, customers, files and metrics.")
router.post("/workspaces/", workspaces.create_workspace)
router.get("/workspaces/", workspaces.list_workspaces, answer=Page[WorkspaceItem])
router.get("/workspaces/{id}", workspaces.get_workspace, omits=("slug",))
router.patch("/workspaces/{id}", workspaces.update_workspace)
router.delete("/workspaces/{id}", deletion.delete_workspace)
router.post("/workspaces/{id}/copy", copying.copy_workspace)

router.about("Workspace members", "Users with access to a workspace, their roles, and invitations.")
router.post("/workspace-members/", workspace_members.invite_workspace_member)
router.get("/workspace-members/", workspace_members.list_workspace_members)
router.get("/workspace-members/{id}", workspace_members.get_workspace_member)
router.patch("/workspace-members/{id}", workspace_members.update_workspace_member)
router.delete("/workspace-members/{id}", workspace_members.remove_workspace_member)

router.about("Workspace access tokens", "Tokens with access to one workspace.")
router.post("/workspace-access-tokens/", workspace_access_tokens.create_workspace_access_token)
router.get("/workspace-access-tokens/", workspace_access_tokens.list_workspace_access_tokens)
router.get("/workspace-access-tokens/{id}", workspace_access_tokens.get_workspace_access_token)
router.patch("/workspace-access-tokens/{id}", workspace_access_tokens.update_workspace_access_token)
router.delete("/workspace-access-tokens/{id}", workspace_access_tokens.delete_workspace_access_token)

router.about("Shares", "What a workspace sells or gives away: prices, images and custom fields.")
router.post("/shares/", shares.create_share)
router.get("/shares/", shares.list_shares)
router.get("/shares/{id}", shares.get_share)
router.patch("/shares/{id}", shares.update_share)
router.delete("/shares/{id}", shares.delete_share)

router.about("Custom fields", "Questions that a workspace can ask in the forms of its shares.")
router.post("/custom-fields/", custom_fields.create_custom_field)
router.get("/custom-fields/", custom_fields.list_custom_fields)
router.get("/custom-fields/{id}", custom_fields.get_custom_field)
router.patch("/custom-fields/{id}", custom_fields.update_custom_field)
router.delete("/custom-fields/{id}", custom_fields.delete_custom_field)

router.about("Customers", "People and teams that a workspace sells to.")
router.post("/customers/", customers.create_customer)
router.get("/customers/", customers.list_customers)
# An external id may hold slashes.
router.get(
    "/customers/external/{external_id:path}",
    customers.get_customer,
    name="get_customer_by_external_id",
    omits=("id",),
)
router.patch(
    "/customers/external/{external_id:path}",
    customers.update_customer,
    name="update_customer_by_external_id",
    omits=("id",),
)
router.get("/customers/{id}", customers.get_customer, omits=("external_id",))
router.patch("/customers/{id}", customers.update_customer, omits=("external_id",))
router.delete("/customers/{id}", customers.delete_customer)

router.about("Members", "People who belong to a customer that is a team.")
router.post("/members/", members.create_member)
router.get("/members/", members.list_members)
router.get("/members/{id}", members.get_member)
router.patch("/members/{id}", members.update_member)
router.delete("/members/{id}", members.delete_member)

router.about("Customer sessions", "Tokens with which a workspace opens the portal for a customer.")
router.post("/customer-sessions/", customer_sessions.create_customer_session)

router.about("File-share sessions", "Sales of shares: each session is one, with its downloads and payments.")
router.post("/file-share-sessions/", file_share_sessions.create_file_share_session)
router.get("/file-share-sessions/", file_share_sessions.list_file_share_sessions)
router.post("/file-share-sessions/ingest", file_share_backfill.ingest_file_share_sessions)
router.get("/file-share-sessions/{id}", file_share_sessions.get_file_share_session)
router.post("/file-share-sessions/{id}/downloads", file_share_sessions.record_download)
router.post("/file-share-sessions/{id}/payments", file_share_payments.record_payment)
router.post("/file-share-sessions/{id}/complete", file_share_sessions.complete_file_share_session, status=200)
router.post("/file-share-sessions/{id}/expire", file_share_sessions.expire_file_share_session, status=200)

router.about("File-share payments", "Payments for file-share sessions.")
router.get("/file-share-payments/", file_share_payments.list_file_share_payments)
router.get("/file-share-payments/{id}", file_share_payments.get_file_share_payment)
router.post("/file-share-payments/{id}/refund", file_share_payments.refund_payment, status=200)

router.about("File-share refunds", "Refunds of payments.")
router.get("/file-share-refunds/", file_share_refunds.list_file_share_refunds)
router.get("/file-share-refunds/{id}", file_share_refunds.get_file_share_refund)

router.about("File-share downloads", "Downloads of file-share sessions.")
router.get("/file-share-downloads/", file_share_downloads.list_file_share_downloads)
router.get("/file-share-downloads/{id}", file_share_downloads.get_file_share_download)

router.about("Files", "Uploads in parts by signed URLs, and downloads.")
router.post("/files/", files.create_file)
router.get("/files/", files.list_files)
router.get("/files/{id}", files.get_file)
router.post("/files/{id}/uploaded", files.complete_file_upload, status=200)
router.get("/files/{id}/download", files.get_file_download)
router.delete("/files/{id}", files.delete_file)

router.about("Events", "What customers do, as a workspace reports it; metrics count it.")
router.get("/events/", events.list_events)
router.post("/events/ingest", event_ingestion.ingest_events)
router.get("/events/names", events.list_event_names)
router.get("/events/{id}", events.get_event)

router.about("Metrics", "Revenue, costs and activity by period, as JSON or CSV.")
router.get("/metrics/", metrics.get_metrics, endpoint_class=LongEndpoint)
router.get("/metrics/limits", metrics.get_metrics_limits)
router.get(
    "/metrics/export",
    metrics.get_metrics,
    name="export_metrics",
    endpoint_class=CsvEndpoint,
    filters=MetricsExportQuery,
)

router.about("Usage", "What the clients of a workspace use of the API, by day.")
router.get("/usage/", usage.list_usage)

router.about("Changes", "What happens in a workspace, in order: a feed that systems and people follow.")
router.get("/changes/", changes.get_changes)
router.get("/changes/latest", changes.get_latest_change)
router.get(
    "/changes/stream",
    changes.get_changes,
    name="stream_changes",
    endpoint_class=StreamEndpoint,
    filters=ChangeStreamQuery,
)

router.about("Webhook endpoints", "URLs that a workspace has told of its changes, with signed payloads.")
router.post("/webhook-endpoints/", webhook_endpoints.create_webhook_endpoint)
router.get("/webhook-endpoints/", webhook_endpoints.list_webhook_endpoints)
router.get("/webhook-endpoints/{id}", webhook_endpoints.get_webhook_endpoint)
router.patch("/webhook-endpoints/{id}", webhook_endpoints.update_webhook_endpoint)
router.delete("/webhook-endpoints/{id}", webhook_endpoints.delete_webhook_endpoint)
router.post("/webhook-endpoints/{id}/secret", webhook_endpoints.rotate_webhook_endpoint_secret)
router.post("/webhook-endpoints/{id}/test", webhook_trials.test_webhook_endpoint, status=200)
router.post("/webhook-endpoints/{id}/redeliver", webhook_deliveries.redeliver_webhook_endpoint, status=200)

router.about("Webhook deliveries", "What endpoints were told, with both sides of every attempt.")
router.get("/webhook-deliveries/", webhook_deliveries.list_webhook_deliveries)
router.get("/webhook-deliveries/{id}", webhook_deliveries.get_webhook_delivery)
router.post("/webhook-deliveries/{id}/redeliver", webhook_deliveries.redeliver_webhook_delivery, status=200)

router.about("Deletions", "What was deleted in the last 90 days, for systems that keep a copy.")
router.get("/deletions/", deletions.list_deletions)
