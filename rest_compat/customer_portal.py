"""`/api/customer-portal/`."""

from resolvers.portal import downloads as portal_downloads
from resolvers.portal import members as portal_members
from resolvers.portal import portal
from resolvers.portal import sessions as portal_sessions
from rest_compat.routing.router import Router

router = Router(
    "/customer-portal", "Customer portal", "What customers see and change with a token of their own."
)
router.post("/customer-session/request", portal_sessions.request_portal_code, status=202)
router.post("/customer-session/authenticate", portal_sessions.authenticate_portal_code, status=200)
router.get("/customer-session/introspect", portal_sessions.get_portal_session)
router.delete("/customer-session", portal_sessions.end_portal_session)
router.get("/customers/me", portal.get_portal_customer)
router.patch("/customers/me", portal.update_portal_customer)
router.get("/shares/", portal.list_portal_shares)
router.get("/shares/{id}", portal.get_portal_share)
router.get("/file-share-sessions/", portal.list_portal_file_share_sessions)
router.get("/file-share-sessions/{id}", portal.get_portal_file_share_session)
router.post("/file-share-sessions/{id}/downloads", portal_downloads.download_portal_file)
router.get("/members/", portal_members.list_portal_members)
router.post("/members/", portal_members.create_portal_member)
router.get("/members/{id}", portal_members.get_portal_member)
router.patch("/members/{id}", portal_members.update_portal_member)
router.delete("/members/{id}", portal_members.delete_portal_member)
