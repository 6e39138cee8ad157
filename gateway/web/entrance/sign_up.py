"""Pages to sign up: one asks for an email address, the link that it is sent opens the other."""

from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.entrance.mailed_links import STATUS, sign_up_token
from gateway.web.entrance.sign_in import browser_of, enter
from gateway.web.kit.forms import Form
from gateway.web.kit.visits import Visit, local_path, page
from resolvers.sign_in.mailed_links import LinkState
from resolvers.sign_in.sign_in import OpenedSession
from resolvers.sign_in.sign_up import (
    LINK_PATH,
    SignUpLink,
    create_account,
    get_sign_up_link,
    request_account,
)
from schema.accounts.accounts import SHORTEST_PASSWORD
from schema.errors import Invalid
from schema.languages.speech import gettext

PATH = "/sign-up"


@dataclass(frozen=True)
class SignUpPages:
    """The pages, the same for users who are already signed in.

    `outbox` is the directory of emails that the first one names, for developers without a mail server.
    """

    outbox: str | None = None

    async def show_request(self, visit: Visit) -> Response:
        next_path = local_path(visit.request.query_params.get("next", ""))
        return self._show(visit.as_visitor(), Form.of(next=next_path))

    async def take_request(self, visit: Visit) -> Response:
        """Send an email; the page is the same for addresses that users have."""
        visit = visit.as_visitor()
        form = await visit.form()
        try:
            next_path = local_path(form.raw("next"))
            await visit.call(request_account, data={"email": form.text("email")}, next_path=next_path)
        except Invalid as invalid:
            return self._show(visit, form.refused(invalid), 422)
        return self._show(visit, form, is_sent=True)

    def _show(self, visit: Visit, form: Form, status_code: int = 200, *, is_sent: bool = False) -> Response:
        return visit.render(
            "sign_up.html", status_code=status_code, form=form, is_sent=is_sent, outbox=self.outbox
        )


def sign_up_routes(outbox: str | None) -> list[Route]:
    pages = SignUpPages(outbox)
    return [
        Route(PATH, page(pages.show_request, anyone=True, translated=True)),
        Route(PATH, page(pages.take_request, anyone=True, translated=True), methods=["POST"]),
        Route(LINK_PATH, page(show_link, anyone=True, translated=True)),
        Route(LINK_PATH, page(take_account, anyone=True, translated=True), methods=["POST"]),
    ]


async def show_link(visit: Visit) -> Response:
    """The form for the password. Opening the page creates nothing: programs that scan emails do so too."""
    token = sign_up_token(visit.request.query_params.get("token", ""))
    link = await visit.call(get_sign_up_link, token=token)
    return _show_link(visit.as_visitor(), link, Form.of(token=token))


async def take_account(visit: Visit) -> Response:
    """Create the account and sign in to it."""
    visit = visit.as_visitor()
    form = await visit.form()
    token = sign_up_token(form.raw("token"))
    link = await visit.call(get_sign_up_link, token=token)
    next_path = local_path(link.next_path)
    data = {"token": token, "password": form.raw("password"), "name": form.optional("name")}
    try:
        opened = await visit.call(create_account, data=data, browser=browser_of(visit, next_path))
    except Invalid as invalid:
        return _show_link(visit, link, form.refused(invalid), 422)
    if isinstance(opened, OpenedSession):
        return enter(visit, opened, next_path, gettext("Your account is ready."))
    return _show_link(visit, opened, form)


def _show_link(visit: Visit, link: SignUpLink, form: Form, status_code: int = 200) -> Response:
    return visit.render(
        "new_account.html",
        status_code=status_code if link.state is LinkState.VALID else STATUS[link.state],
        form=form,
        link=link,
        shortest_password=SHORTEST_PASSWORD,
    )
