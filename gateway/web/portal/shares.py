"""What the workspace offers to everyone, in the portal."""

from collections.abc import Iterable

from starlette.responses import Response

from gateway.web.portal.visits import PortalVisit
from resolvers.portal.portal import get_portal_share, list_portal_file_share_sessions, list_portal_shares
from schema.files.files import File

AT_A_TIME = 24
PURCHASES_AT_A_TIME = 10


async def show_shares(portal: PortalVisit) -> Response:
    query = {"limit": AT_A_TIME, "page": portal.visit.page_number}
    listing = await portal.visit.call(list_portal_shares, filters=query)
    images = first_images(share.medias for share in listing.data)
    return portal.render("portal_shares.html", images=images, listing=listing)


async def show_share(portal: PortalVisit) -> Response:
    """A share with its images, and the customer's latest purchases of it."""
    id = portal.visit.request.path_params["id"]
    share = await portal.visit.call(get_portal_share, id=id)
    query = {"share_id": [str(id)], "limit": PURCHASES_AT_A_TIME}
    purchases = await portal.visit.call(list_portal_file_share_sessions, filters=query)
    images = tuple(media.public_url for media in share.medias if media.public_url)
    return portal.render("portal_share.html", share=share, purchases=purchases.data, images=images)


def first_images(lists: Iterable[list[File]]) -> tuple[str, ...]:
    """The public URLs of the first image of each list that has one."""
    return tuple(media.public_url for medias in lists for media in medias[:1] if media.public_url)
