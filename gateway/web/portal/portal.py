"""Pages of the customer portal: what customers may do by the API, without JavaScript."""

from contextlib import suppress

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.languages import keep_language, read_language
from gateway.web.kit.visits import local_path
from gateway.web.portal.entrance import (
    TOKEN,
    show_entrance,
    show_link,
    take_address,
    take_code,
    take_leave,
    take_link,
)
from gateway.web.portal.members import remove_member, show_member, show_members, take_change, take_member
from gateway.web.portal.purchases import show_purchase, show_purchases, take_download
from gateway.web.portal.shares import show_share, show_shares
from gateway.web.portal.visits import PortalVisit, portal_page
from gateway.web.words.portal import countries
from resolvers.portal.portal import (
    PROFILE_ROLES,
    get_portal_customer,
    update_portal_customer,
)
from schema.customers.addresses import BillingAddress
from schema.errors import Invalid, NotPermitted
from schema.languages.speech import gettext
from storage.enums import CustomerType

PATH = "/{slug}/portal"
ADDRESS = tuple(BillingAddress.model_fields)


def portal_routes() -> list[Route]:
    return [
        Route(PATH, portal_page(show_portal, anyone=True)),
        Route(f"{PATH}/code", portal_page(show_portal, anyone=True)),
        Route(f"{PATH}/code", portal_page(take_address, anyone=True), methods=["POST"]),
        Route(f"{PATH}/enter", portal_page(show_portal, anyone=True)),
        Route(f"{PATH}/enter", portal_page(take_code, anyone=True), methods=["POST"]),
        Route(f"{PATH}/continue", portal_page(show_portal, anyone=True)),
        Route(f"{PATH}/continue", portal_page(take_link, anyone=True), methods=["POST"]),
        Route(f"{PATH}/language", portal_page(take_language, anyone=True), methods=["POST"]),
        Route(f"{PATH}/leave", portal_page(take_leave), methods=["POST"]),
        Route(f"{PATH}/purchases/{{id:uuid}}", portal_page(show_purchase)),
        Route(
            f"{PATH}/purchases/{{id:uuid}}/files/{{file_id:uuid}}",
            portal_page(take_download),
            methods=["POST"],
        ),
        Route(f"{PATH}/shares", portal_page(show_shares)),
        Route(f"{PATH}/shares/{{id:uuid}}", portal_page(show_share)),
        Route(f"{PATH}/profile", portal_page(show_profile)),
        Route(f"{PATH}/profile", portal_page(take_profile), methods=["POST"]),
        Route(f"{PATH}/members", portal_page(show_members)),
        Route(f"{PATH}/members", portal_page(take_member), methods=["POST"]),
        Route(f"{PATH}/members/{{id:uuid}}", portal_page(show_member)),
        Route(f"{PATH}/members/{{id:uuid}}", portal_page(take_change), methods=["POST"]),
        Route(f"{PATH}/members/{{id:uuid}}/remove", portal_page(remove_member), methods=["POST"]),
    ]


async def show_portal(portal: PortalVisit) -> Response:
    """The purchases; without a session, the entrance or the page of a session's link."""
    token = portal.visit.request.query_params.get(TOKEN)
    if token is not None:
        return await show_link(portal, token)
    if portal.session is None:
        return show_entrance(portal)
    return await show_purchases(portal)


async def take_language(portal: PortalVisit) -> Response:
    """Keep the language in the browser and, unless it is a team that another manages, with the customer."""
    form = await portal.visit.form()
    language = read_language(form.raw("language"))
    response = portal.visit.redirect(local_path(form.raw("next"), portal.path))
    if language is not None:
        keep_language(response, portal.visit.cookies, language)
        # A team has one language, and each of its members one in the browser.
        if portal.session is not None:
            with suppress(NotPermitted):
                await portal.visit.call(update_portal_customer, data={"language": language.value})
    return response


async def show_profile(portal: PortalVisit) -> Response:
    customer = await portal.visit.call(get_portal_customer)
    address = {f"billing_address.{name}": getattr(customer.billing_address, name) for name in ADDRESS}
    return await _show_profile(portal, Form.of(name=customer.name, **address))


async def take_profile(portal: PortalVisit) -> Response:
    form = await portal.visit.form()
    address = {name: form.optional(f"billing_address.{name}") for name in ADDRESS}
    data = {"name": form.optional("name"), "billing_address": address}
    try:
        await portal.visit.call(update_portal_customer, data=data)
    except Invalid as invalid:
        return await _show_profile(portal, form.refused(invalid), 422)
    return portal.visit.redirect(f"{portal.path}/profile", gettext("Profile saved."))


async def _show_profile(portal: PortalVisit, form: Form, status_code: int = 200) -> Response:
    customer = await portal.visit.call(get_portal_customer)
    member = None if portal.session is None else portal.session.member
    return portal.render(
        "portal_profile.html",
        status_code=status_code,
        form=form,
        customer=customer,
        countries=countries(),
        may_change=customer.type != CustomerType.TEAM or member is None or member.role in PROFILE_ROLES,
    )
