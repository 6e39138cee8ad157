"""The page of an emailed link, on which signed-in users confirm a new email address."""

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.entrance.mailed_links import STATUS, link_token
from gateway.web.kit.visits import SIGN_IN_PATH, Visit, page
from resolvers.sign_in.mailed_links import PATHS, LinkState, MailedLink
from resolvers.sign_in.new_addresses import confirm_new_address, get_new_address
from schema.errors import Invalid, NotPermitted
from storage.enums import LinkPurpose

PATH = PATHS[LinkPurpose.NEW_ADDRESS]


def new_address_routes() -> list[Route]:
    return [
        Route(PATH, page(show_link, anyone=True, translated=True)),
        Route(PATH, page(take_link, translated=True), methods=["POST"]),
    ]


async def show_link(visit: Visit) -> Response:
    """A button, because programs that scan emails follow links and must not change anything."""
    token = link_token(visit.request.query_params.get("token", ""))
    link = await visit.call(get_new_address, token=token)
    return _show(visit, link, token, STATUS[link.state])


async def take_link(visit: Visit) -> Response:
    form = await visit.form()
    token = link_token(form.raw("token"))
    try:
        link = await visit.call(confirm_new_address, token=token)
    except NotPermitted:
        return _show(visit, await visit.call(get_new_address, token=token), token, 403)
    except Invalid:
        link = await visit.call(get_new_address, token=token)
        return _show(visit, link, token, 422, is_taken=True)
    return _show(visit, link, token, STATUS[link.state], is_changed=link.state is LinkState.VALID)


def _show(
    visit: Visit,
    link: MailedLink,
    token: str,
    status_code: int,
    *,
    is_changed: bool = False,
    is_taken: bool = False,
) -> Response:
    return visit.render(
        "new_address.html",
        status_code=status_code,
        link=link,
        is_changed=is_changed,
        is_taken=is_taken,
        is_own=link.user is not None and visit.user is not None and link.user.id == visit.user.id,
        sign_in=SIGN_IN_PATH,
        path=PATH,
        back=f"{PATH}?token={token}",
        token=token,
    )
