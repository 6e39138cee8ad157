"""`/api/browser-sessions/`."""

from resolvers.credentials import browser_sessions
from rest_compat.routing.router import Router

router = Router("/browser-sessions", "Browser sessions", "Browsers in which the user is signed in.")
router.get("/", browser_sessions.list_browser_sessions)
router.get("/{id}", browser_sessions.get_browser_session)
router.delete("/{id}", browser_sessions.delete_browser_session)
