"""Pages of the user's account: name, address, password, its end, browsers and authorized applications."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.entrance.sign_in import write_known
from gateway.web.kit.cookies import KNOWN, SESSION
from gateway.web.kit.forms import Form
from gateway.web.kit.visits import SIGN_IN_PATH, Visit, page
from gateway.web.settings.merging import merged, opened
from gateway.web.words.browsers import browser_name
from gateway.web.words.scopes import in_words
from resolvers.credentials.authorized_applications import (
    list_authorized_applications,
    revoke_authorized_application,
)
from resolvers.credentials.browser_sessions import delete_browser_session, list_browser_sessions
from resolvers.sign_in.address_confirmations import mail_address_confirmation
from resolvers.sign_in.new_addresses import get_requested_address, request_new_address
from resolvers.sign_in.own_account import change_own_name, delete_own_account
from resolvers.sign_in.sign_in import change_password
from resolvers.workspaces.workspaces import list_workspaces
from schema.accounts.accounts import SHORTEST_PASSWORD
from schema.errors import Invalid, NotFound
from schema.kit.pages import MOST_PER_PAGE

PATH = "/account"
CONFIRMATION_PATH = f"{PATH}/address-confirmation"
SESSIONS_PATH = f"{PATH}/browser-sessions"
APPLICATIONS_PATH = f"{PATH}/authorized-applications"


def account_routes() -> list[Route]:
    return [
        Route(PATH, page(show_account)),
        Route(PATH, page(take_password), methods=["POST"]),
        Route(f"{PATH}/name", page(take_name), methods=["POST"]),
        Route(f"{PATH}/email", page(take_address), methods=["POST"]),
        Route(f"{PATH}/delete", page(delete_account), methods=["POST"]),
        Route(CONFIRMATION_PATH, page(send_confirmation), methods=["POST"]),
        Route(SESSIONS_PATH, page(show_sessions)),
        Route(f"{SESSIONS_PATH}/{{id}}/end", page(end_session), methods=["POST"]),
        Route(APPLICATIONS_PATH, page(show_applications)),
        Route(f"{APPLICATIONS_PATH}/{{id}}/revoke", page(revoke_application), methods=["POST"]),
    ]


async def show_account(visit: Visit) -> Response:
    return await _show_account(visit)


async def take_name(visit: Visit) -> Response:
    form = merged(await visit.form(), _own_name(visit), ["name"]).form
    if form.problems:
        return await _show_account(visit, 409, name_form=form)
    try:
        await visit.call(change_own_name, data={"name": form.optional("name")})
    except Invalid as invalid:
        return await _show_account(visit, 422, name_form=form.refused(invalid))
    return visit.redirect(PATH, "Name saved.")


async def take_address(visit: Visit) -> Response:
    """Email a link to the new address, which is used once the user opens it."""
    form = await visit.form()
    email = form.text("email")
    try:
        await visit.call(request_new_address, data={"email": email})
    except Invalid as invalid:
        return await _show_account(visit, 422, email_form=form.refused(invalid))
    return visit.redirect(PATH, "Email sent. Only the link in the latest email works.")


async def delete_account(visit: Visit) -> Response:
    await visit.form()
    try:
        await visit.call(delete_own_account)
    except Invalid as invalid:
        slugs = [entry["loc"][-1] for entry in invalid.problems]
        return await _show_account(visit, 422, last_owner_of=slugs)
    response = visit.redirect(SIGN_IN_PATH, "Your account is deleted.")
    visit.cookies.clear(response, SESSION)
    return response


async def take_password(visit: Visit) -> Response:
    form = await visit.form()
    data: dict[str, Any] = {name: form.raw(name) for name in ("current_password", "new_password")}
    data["end_everything"] = form.checked("end_everything")
    known_tokens = visit.cookies.read(visit.request, KNOWN) or ""
    try:
        known_tokens = await visit.call(change_password, data=data, known_tokens=known_tokens)
    except Invalid as invalid:
        return await _show_account(visit, 422, form=form.refused(invalid))
    notice = "Password changed. All other browsers are signed out."
    if data["end_everything"]:
        notice = "Password changed. All other browsers, personal tokens and applications have lost access."
    response = visit.redirect(PATH, notice)
    write_known(visit, response, known_tokens)
    return response


async def send_confirmation(visit: Visit) -> Response:
    """Resend the link that confirms the address."""
    await visit.form()
    is_sent = await visit.call(mail_address_confirmation)
    notice = "Your email address is confirmed."
    if is_sent:
        notice = "Email sent. Only the link in the latest email works."
    return visit.redirect(PATH, notice)


async def _show_account(visit: Visit, status_code: int = 200, **values: Any) -> Response:
    """The page with its forms; `values` has those that were refused."""
    forms: dict[str, Any] = {
        "name_form": opened(_own_name(visit)),
        "email_form": Form.of(),
        "form": Form.of(end_everything=True),
        "last_owner_of": [],
    }
    return visit.render(
        "account_profile.html",
        status_code=status_code,
        requested=await visit.call(get_requested_address),
        shortest_password=SHORTEST_PASSWORD,
        **(forms | values),
    )


def _own_name(visit: Visit) -> Form:
    return Form.of(name=visit.user.name if visit.user else None)


async def show_sessions(visit: Visit) -> Response:
    query = {"limit": MOST_PER_PAGE, "page": visit.page_number, "sorting": ["-created_at"]}
    listing = await visit.call(list_browser_sessions, filters=query)
    return visit.render("browser_sessions.html", listing=listing, browser_name=browser_name)


async def end_session(visit: Visit) -> Response:
    await visit.form()
    await visit.call(delete_browser_session, id=visit.request.path_params["id"])
    return visit.redirect(SESSIONS_PATH, "Browser signed out.")


async def show_applications(visit: Visit) -> Response:
    query = {"limit": MOST_PER_PAGE, "page": visit.page_number}
    listing = await visit.call(list_authorized_applications, filters=query)
    workspaces = await visit.call(list_workspaces, filters={"limit": MOST_PER_PAGE})
    names = {workspace.id: workspace.name for workspace in workspaces.data}
    return visit.render("authorized_applications.html", listing=listing, names=names, in_words=in_words)


async def revoke_application(visit: Visit) -> Response:
    await visit.form()
    try:
        await visit.call(revoke_authorized_application, id=visit.request.path_params["id"])
    except NotFound:
        return visit.redirect(APPLICATIONS_PATH, "The application no longer had access.")
    return visit.redirect(APPLICATIONS_PATH, "Access revoked.")
