"""The page of an emailed link, on which signed-in users confirm their email address."""

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.entrance.mailed_links import STATUS, link_token
from gateway.web.kit.visits import SIGN_IN_PATH, Visit, page
from resolvers.sign_in.address_confirmations import confirm_address, get_address_confirmation
from resolvers.sign_in.mailed_links import PATHS, MailedLink
from schema.errors import NotPermitted
from storage.enums import LinkPurpose

PATH = PATHS[LinkPurpose.ADDRESS]


def address_confirmation_routes() -> list[Route]:
    return [
        Route(PATH, page(show_link, anyone=True, translated=True)),
        Route(PATH, page(take_link, translated=True), methods=["POST"]),
    ]


async def show_link(visit: Visit) -> Response:
    """A button, because programs that scan emails follow links and must not confirm anything.

    Users who are not signed in to the link's account sign in first and return here.
    """
    token = link_token(visit.request.query_params.get("token", ""))
    return _show(visit, await visit.call(get_address_confirmation, token=token), token)


async def take_link(visit: Visit) -> Response:
    form = await visit.form()
    token = link_token(form.raw("token"))
    try:
        link = await visit.call(confirm_address, token=token)
    except NotPermitted:
        return _show(visit, await visit.call(get_address_confirmation, token=token), token, 403)
    return _show(visit, link, token)


def _show(visit: Visit, link: MailedLink, token: str, status_code: int | None = None) -> Response:
    # The link of a former address must not tell the current one.
    is_confirmed = (
        link.user is not None
        and link.user.email_verified_at is not None
        and link.user.email_folded == link.recipient
    )
    return visit.render(
        "address_confirmation.html",
        status_code=status_code or (200 if is_confirmed else STATUS[link.state]),
        link=link,
        is_confirmed=is_confirmed,
        is_own=link.user is not None and visit.user is not None and link.user.id == visit.user.id,
        sign_in=SIGN_IN_PATH,
        back=f"{PATH}?token={token}",
        token=token,
    )
