"""Signing in to the demo without typing. Only `serve --demo` has these routes, and only in development."""

import secrets
from multiprocessing import get_context
from time import monotonic
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.entrance.sign_in import browser_of, enter_or_ask
from gateway.web.kit.visits import SIGN_IN_PATH, Visit, page
from resolvers.sign_in.sign_in import sign_in
from schema.errors import Invalid

LINK_PATH = "/sign-in/demo"
LINK_SECONDS = 60 * 60
ENDED = "This link has been used or has expired. Sign in with the password that the server printed."


class DemoEntrance:
    """Signs one browser in as the demo user, by the link that the server prints, within an hour of its start.

    The link is as secret as the password printed beside it, and works once in all processes together.
    """

    def __init__(self, email: str, password: str, slug: str) -> None:
        self.email, self.slug = email, slug
        self._password = password
        self._code = secrets.token_urlsafe(24)
        # In shared memory: forked processes see each other's changes.
        self._is_unused = get_context("fork").Value("b", True)
        self._ends = monotonic() + LINK_SECONDS

    @property
    def link(self) -> str:
        """The path to open."""
        return f"{LINK_PATH}?{urlencode({'code': self._code})}"

    def routes(self) -> list[Route]:
        return [Route(LINK_PATH, page(self.follow, anyone=True))]

    async def follow(self, visit: Visit) -> Response:
        """Sign in by the operation that takes passwords, so that a second factor is asked for."""
        if visit.request.method != "GET" or not self.claim(visit.request.query_params.get("code", "")):
            return visit.redirect(SIGN_IN_PATH, ENDED)
        data, dashboard = {"email": self.email, "password": self._password}, f"/{self.slug}/dashboard"
        try:
            opened = await visit.call(sign_in, data=data, browser=browser_of(visit, dashboard))
        except Invalid:
            return visit.redirect(SIGN_IN_PATH, ENDED)
        return enter_or_ask(visit, opened, dashboard)

    def claim(self, code: str) -> bool:
        """Whether this is the code, for the first time and in time."""
        if not secrets.compare_digest(code.encode(), self._code.encode()):
            return False
        with self._is_unused.get_lock():
            is_valid = bool(self._is_unused.value) and monotonic() < self._ends
            self._is_unused.value = False
        return is_valid
