"""`/api/customer-sessions/`."""

from resolvers.customers import sessions as customer_sessions
from rest_compat.routing.router import Router

router = Router(
    "/customer-sessions",
    "Customer sessions",
    "Tokens with which a workspace opens the portal for a customer.",
)
router.post("/", customer_sessions.create_customer_session)
