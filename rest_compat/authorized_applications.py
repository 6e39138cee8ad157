"""`/api/authorized-applications/`."""

from resolvers.credentials import authorized_applications
from rest_compat.routing.router import Router

router = Router(
    "/authorized-applications", "Authorized applications", "Applications to which the user has given access."
)
router.get("/", authorized_applications.list_authorized_applications)
router.get("/{id}", authorized_applications.get_authorized_application)
router.delete("/{id}", authorized_applications.revoke_authorized_application)
