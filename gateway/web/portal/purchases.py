"""A customer's purchases, each with its files, payments and downloads."""

from starlette.responses import Response

from gateway.web.portal.shares import first_images
from gateway.web.portal.visits import PortalVisit
from resolvers.portal.downloads import download_portal_file
from resolvers.portal.portal import get_portal_file_share_session, list_portal_file_share_sessions
from schema.errors import Invalid, NotFound
from schema.files.uploads import FileDownload

AT_A_TIME = 24


async def show_purchases(portal: PortalVisit) -> Response:
    query = {"limit": AT_A_TIME, "page": portal.visit.page_number}
    listing = await portal.visit.call(list_portal_file_share_sessions, filters=query)
    images = first_images(purchase.share_medias for purchase in listing.data)
    return portal.render("portal_purchases.html", listing=listing, images=images)


async def show_purchase(portal: PortalVisit) -> Response:
    return await _show(portal, None)


async def take_download(portal: PortalVisit) -> Response:
    """The purchase's page, which then loads the file: a redirect to a store elsewhere would be refused."""
    await portal.visit.form()
    parameters = portal.visit.request.path_params
    data = {"file_id": str(parameters["file_id"])}
    try:
        link = await portal.visit.call(download_portal_file, id=parameters["id"], data=data)
    except Invalid:
        raise NotFound("This file is no longer available.") from None
    return await _show(portal, link)


async def _show(portal: PortalVisit, link: FileDownload | None) -> Response:
    id = portal.visit.request.path_params["id"]
    purchase = await portal.visit.call(get_portal_file_share_session, id=id)
    return portal.render(
        "portal_purchase.html",
        purchase=purchase,
        link=link,
        images=first_images([purchase.share_medias]),
        shows_usage=portal.workspace.customer_portal_settings.usage.show,
    )
