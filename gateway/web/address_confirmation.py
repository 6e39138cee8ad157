"""The page that a mailed link leads to, on which users confirm that their address is theirs."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.mailed_links import STATUS, link_token
from gateway.web.visits import Visit, page
from resolvers.address_confirmations import confirm_address, get_address_confirmation
from resolvers.mailed_links import PATHS, MailedLink
from storage.enums import LinkPurpose

PATH = PATHS[LinkPurpose.ADDRESS]


def address_confirmation_routes() -> list[Route]:
    return [
        Route(PATH, page(show_link, anyone=True)),
        Route(PATH, page(take_link, anyone=True), methods=["POST"]),
    ]


async def show_link(visit: Visit) -> Response:
    """A button: programs that look into mails follow links, and must not confirm anything."""
    token = link_token(visit.request.query_params.get("token", ""))
    return _show(visit, await visit.call(get_address_confirmation, token=token), token)


async def take_link(visit: Visit) -> Response:
    visit = visit.as_visitor()
    form = await visit.form()
    token = link_token(form.raw("token"))
    return _show(visit, await visit.call(confirm_address, token=token), token)


def _show(visit: Visit, link: MailedLink, token: str) -> Response:
    is_confirmed = link.user is not None and link.user["email_verified_at"] is not None
    return visit.as_visitor().render(
        "address_confirmation.html",
        status_code=200 if is_confirmed else STATUS[link.state],
        link=link,
        is_confirmed=is_confirmed,
        token=token,
    )
