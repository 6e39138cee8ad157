"""A visit to a customer portal, with the customer of the cookie that only this portal gets."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from gateway.web.kit.html import content_security_policy
from gateway.web.kit.languages import kept_language, spoken, words_of
from gateway.web.kit.visits import Visit, page
from gateway.web.words.portal import WORDS, parts_of
from oauth.authentication import authenticate
from oauth.principals import Principal, PrincipalKind
from resolvers.portal.sessions import find_language, find_portal_workspace, get_portal_session
from schema.errors import Failure, InvalidToken
from schema.languages.speech import Speech, gettext, noted
from schema.portal.portal import PortalSession, PortalWorkspace

PORTAL = "duograph_portal"
ENDED = noted("Your session has ended. Enter your email address to sign in again.")

_HOST = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?")


@dataclass(frozen=True)
class PortalVisit:
    """A request of a portal page. `session` is None if the customer is not signed in.

    `had_ended` means that the browser's session has ended.
    """

    visit: Visit
    workspace: PortalWorkspace
    session: PortalSession | None = None
    had_ended: bool = False

    @property
    def path(self) -> str:
        """The path of the portal and of its cookie."""
        return portal_path(self.workspace.slug)

    def render(
        self, template: str, *, status_code: int = 200, images: tuple[str, ...] = (), **values: Any
    ) -> Response:
        """The template with `portal`; the page may load the workspace's avatar and `images`."""
        avatar = () if self.workspace.avatar_url is None else (self.workspace.avatar_url,)
        return self.visit.render(
            template,
            status_code=status_code,
            policy=content_security_policy(img_src=_sources((*avatar, *images))),
            portal=self,
            words=WORDS,
            **values,
        )

    def enter(self, token: str, seconds: int) -> Response:
        """Store the session in a cookie and redirect to an address without it."""
        response = self.visit.redirect(self.path)
        response.headers["Referrer-Policy"] = "no-referrer"
        self.visit.cookies.write(response, PORTAL, token, seconds=seconds, path=self.path)
        return response

    def leave(self, notice: str) -> Response:
        """Delete the session's cookie."""
        response = self.visit.redirect(self.path, notice)
        self.visit.cookies.clear(response, PORTAL, path=self.path)
        return response


Handler = Callable[[PortalVisit], Awaitable[Response]]


def portal_page(handler: Handler, *, anyone: bool = False) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for `Route`; without a session it redirects to the entrance, unless `anyone` may see it."""

    async def handle(visit: Visit) -> Response:
        portal = await _open(visit)
        refused: Failure | None = None
        try:
            portal = await _recognized(portal)
        except Failure as failure:
            refused = failure
        with spoken(visit.ctx.caller, await _speech_of(portal)):
            try:
                if refused is not None:
                    raise refused
                if portal.session is None and not anyone:
                    return visit.redirect(portal.path, gettext(ENDED))
                return await handler(portal)
            except Failure as failure:
                status = int(failure.status)
                response = portal.render("portal_failure.html", status_code=status, failure=failure)
                response.headers.update(failure.headers)
                return response

    return page(handle, anyone=True, translated=True)


def portal_path(slug: str) -> str:
    return f"/{slug}/portal"


async def customer_behind(visit: Visit, workspace: PortalWorkspace, token: str) -> Principal:
    """The workspace's customer with this token. Raises `InvalidToken`, charged to the address."""
    principal = await authenticate(visit.ctx.services.database, token)
    is_customer = principal is not None and principal.kind is PrincipalKind.CUSTOMER_SESSION
    if principal is None or not is_customer or principal.workspace_id != workspace.id:
        caller = visit.ctx.caller
        await caller.budget.charge(caller.address, 1, None, restricted=False)
        raise InvalidToken
    visit.request.state.caller.noted_principal = principal
    return principal


async def _open(visit: Visit) -> PortalVisit:
    """The portal in the address, without the user signed in to this browser. Raises `NotFound`."""
    visit = visit.as_visitor()
    caller = replace(visit.ctx.caller, principal=None, credential=None)
    visit = replace(visit, ctx=replace(visit.ctx, caller=caller))
    return PortalVisit(visit, await find_portal_workspace(visit.ctx, visit.request.path_params["slug"]))


async def _recognized(portal: PortalVisit) -> PortalVisit:
    """The visit with the customer of the cookie's token."""
    visit = portal.visit
    token = visit.cookies.read(visit.request, PORTAL, portal.path)
    if token is None:
        return portal
    try:
        principal = await customer_behind(visit, portal.workspace, token)
    except InvalidToken:
        return replace(portal, had_ended=True)
    caller = replace(visit.ctx.caller, principal=principal, credential=token)
    visit = replace(visit, ctx=replace(visit.ctx, caller=caller), binding=token)
    return replace(portal, visit=visit, session=await visit.call(get_portal_session))


async def _speech_of(portal: PortalVisit) -> Speech:
    """That of the browser's choice, else of the customer's, the workspace's or the browser."""
    visit = portal.visit
    own = None if portal.session is None else await find_language(visit.ctx, portal.session.customer_id)
    kept = kept_language(visit.request, visit.cookies)
    return words_of(visit.request, kept, own, portal.workspace.language)


def _sources(images: tuple[str, ...]) -> str:
    """Where the page may load images from: its own host and the hosts of `images`."""
    origins = {
        f"{parts.scheme}://{parts.netloc}"
        for parts in map(parts_of, images)
        if parts is not None and _HOST.fullmatch(parts.netloc)
    }
    return " ".join(["'self'", "data:", *sorted(origins)])
