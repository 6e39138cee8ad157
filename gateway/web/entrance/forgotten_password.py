"""Pages for a forgotten password: one requests a link, the link opens the other."""

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.entrance.mailed_links import STATUS, link_token
from gateway.web.kit.forms import Form
from gateway.web.kit.visits import SIGN_IN_PATH, Visit, page
from resolvers.sign_in.forgotten_passwords import (
    get_forgotten_password,
    request_new_password,
    set_new_password,
)
from resolvers.sign_in.mailed_links import FORGOTTEN_PATH, PATHS, LinkState, MailedLink
from schema.accounts.accounts import SHORTEST_PASSWORD
from schema.errors import Invalid
from schema.languages.speech import gettext
from storage.enums import LinkPurpose

NEW_PATH = PATHS[LinkPurpose.PASSWORD]


def forgotten_password_routes() -> list[Route]:
    return [
        Route(FORGOTTEN_PATH, page(show_request, anyone=True, translated=True)),
        Route(FORGOTTEN_PATH, page(take_request, anyone=True, translated=True), methods=["POST"]),
        Route(NEW_PATH, page(show_link, anyone=True, translated=True)),
        Route(NEW_PATH, page(take_password, anyone=True, translated=True), methods=["POST"]),
    ]


async def show_request(visit: Visit) -> Response:
    """The form that asks for the address."""
    email = None if visit.user is None else visit.user.email
    return visit.as_visitor().render("forgotten_password.html", form=Form.of(email=email), is_sent=False)


async def take_request(visit: Visit) -> Response:
    """Email a link; the page is the same for unknown addresses."""
    visit = visit.as_visitor()
    form = await visit.form()
    try:
        await visit.call(request_new_password, data={"email": form.text("email")})
    except Invalid as invalid:
        refused = form.refused(invalid)
        return visit.render("forgotten_password.html", status_code=422, form=refused, is_sent=False)
    return visit.render("forgotten_password.html", form=form, is_sent=True)


async def show_link(visit: Visit) -> Response:
    """The form for the new password. Opening the page changes nothing."""
    token = link_token(visit.request.query_params.get("token", ""))
    link = await visit.call(get_forgotten_password, token=token)
    return _show(visit.as_visitor(), link, Form.of(token=token))


async def take_password(visit: Visit) -> Response:
    """Set the password and redirect to the sign-in."""
    visit = visit.as_visitor()
    form = await visit.form()
    token = link_token(form.raw("token"))
    try:
        link = await visit.call(set_new_password, data={"token": token, "password": form.raw("password")})
    except Invalid as invalid:
        link = await visit.call(get_forgotten_password, token=token)
        return _show(visit, link, form.refused(invalid), 422)
    if link.state is not LinkState.VALID:
        return _show(visit, link, form)
    notice = gettext("Password changed. All sessions and tokens have ended. Sign in with your new password.")
    return visit.redirect(f"{SIGN_IN_PATH}?again=1", notice)


def _show(visit: Visit, link: MailedLink, form: Form, status_code: int = 200) -> Response:
    return visit.render(
        "new_password.html",
        status_code=status_code if link.state is LinkState.VALID else STATUS[link.state],
        form=form,
        link=link,
        shortest_password=SHORTEST_PASSWORD,
    )
