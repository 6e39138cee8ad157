"""The routes of customers, who see and change their own with a token of the portal."""

from resolvers.portal import downloads, members, portal, sessions
from rest_compat.routing.router import Router

router = Router()

router.about("Customer portal", "What customers see and change with a token of their own.")
router.post("/customer-portal/customer-session/request", sessions.request_portal_code, status=202)
router.post("/customer-portal/customer-session/authenticate", sessions.authenticate_portal_code, status=200)
router.get("/customer-portal/customer-session/introspect", sessions.get_portal_session)
router.delete("/customer-portal/customer-session", sessions.end_portal_session)
router.get("/customer-portal/customers/me", portal.get_portal_customer)
router.patch("/customer-portal/customers/me", portal.update_portal_customer)
router.get("/customer-portal/shares/", portal.list_portal_shares)
router.get("/customer-portal/shares/{id}", portal.get_portal_share)
router.get("/customer-portal/file-share-sessions/", portal.list_portal_file_share_sessions)
router.get("/customer-portal/file-share-sessions/{id}", portal.get_portal_file_share_session)
router.post("/customer-portal/file-share-sessions/{id}/downloads", downloads.download_portal_file)
router.get("/customer-portal/members/", members.list_portal_members)
router.post("/customer-portal/members/", members.create_portal_member)
router.get("/customer-portal/members/{id}", members.get_portal_member)
router.patch("/customer-portal/members/{id}", members.update_portal_member)
router.delete("/customer-portal/members/{id}", members.delete_portal_member)
