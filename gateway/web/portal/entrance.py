"""Signing in to the portal, by a session's link or an emailed code, and signing out."""

from dataclasses import replace
from datetime import datetime

from starlette.responses import Response

from gateway.web.kit.forms import Form
from gateway.web.portal.visits import ENDED, PortalVisit, customer_behind
from resolvers.portal.portal import get_portal_customer
from resolvers.portal.sessions import authenticate_portal_code, end_portal_session, request_portal_code
from schema.errors import Invalid, InvalidCode, InvalidToken, problem
from schema.languages.speech import gettext, noted
from storage.clock import now

TOKEN = "customer_session_token"  # noqa: S105
EXPIRED_LINK = noted("This link has expired. Enter your email address to sign in.")


async def show_link(portal: PortalVisit, token: str) -> Response:
    """Ask before signing in as the link's customer, because any site can make a browser open a link.

    An invalid link leads to the entrance. A link whose session the browser already has redirects.
    """
    if token == portal.visit.ctx.caller.credential:
        return portal.visit.redirect(portal.path)
    try:
        principal = await customer_behind(portal.visit, portal.workspace, token)
    except InvalidToken:
        return portal.leave(gettext(EXPIRED_LINK))
    caller = replace(portal.visit.ctx.caller, principal=principal, credential=token)
    behind = replace(portal.visit, ctx=replace(portal.visit.ctx, caller=caller))
    customer = await behind.call(get_portal_customer)
    response = portal.render("portal_link.html", customer=customer, token=token)
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


async def take_link(portal: PortalVisit) -> Response:
    """Store the token in the cookie; its link works until the session ends."""
    form = await portal.visit.form()
    token = form.raw(TOKEN)
    try:
        principal = await customer_behind(portal.visit, portal.workspace, token)
    except InvalidToken:
        return portal.leave(gettext(EXPIRED_LINK))
    left = int((principal.expires_at_stamp or 0) - now().timestamp())
    return portal.enter(token, max(left, 1))


def show_entrance(portal: PortalVisit, form: Form | None = None, status_code: int = 200) -> Response:
    """The form for the email address."""
    message = gettext(ENDED) if portal.had_ended else None
    return portal.render(
        "portal_entrance.html", status_code=status_code, form=form or Form.of(), message=message
    )


async def take_address(portal: PortalVisit) -> Response:
    """Email a code and ask for it; the page is the same for unknown addresses."""
    form = await portal.visit.form()
    data = {"email": form.text("email"), "slug": portal.workspace.slug}
    try:
        await portal.visit.call(request_portal_code, data=data)
    except Invalid as invalid:
        return show_entrance(portal, form.refused(invalid), 422)
    return portal.render("portal_code.html", form=Form.of(email=data["email"]))


async def take_code(portal: PortalVisit) -> Response:
    """Open a session of the customer that the code was sent to, or ask to choose among several."""
    form = await portal.visit.form()
    data = {"email": form.text("email"), "slug": portal.workspace.slug, "code": form.text("code")}
    if (customer_id := form.optional("customer_id")) is not None:
        data["customer_id"] = customer_id
    try:
        opened = await portal.visit.call(authenticate_portal_code, data=data)
    except InvalidCode:
        message = noted("This code is wrong or has expired. Check the latest email or request a new code")
        return _ask_again(portal, form.refused(Invalid([problem(("data", "code"), message)])))
    except Invalid as invalid:
        return _ask_again(portal, form.refused(invalid))
    if opened.token is None:
        return portal.render("portal_choice.html", form=form, choices=opened.choices)
    return portal.enter(opened.token, _seconds_until(opened.expires_at))


async def take_leave(portal: PortalVisit) -> Response:
    """End the session in every browser."""
    await portal.visit.form()
    await portal.visit.call(end_portal_session)
    return portal.leave(gettext("You are signed out."))


def _ask_again(portal: PortalVisit, form: Form) -> Response:
    return portal.render("portal_code.html", status_code=422, form=form)


def _seconds_until(moment: datetime) -> int:
    return max(int((moment - now()).total_seconds()), 1)
