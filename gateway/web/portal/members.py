"""Member pages of the portal: every member can read them, a team's owner can change them."""

from starlette.responses import Response

from gateway.web.kit.forms import Form
from gateway.web.portal.visits import PortalVisit
from resolvers.portal.members import (
    create_portal_member,
    delete_portal_member,
    get_portal_member,
    list_portal_members,
    update_portal_member,
)
from resolvers.portal.portal import get_portal_customer
from schema.errors import Invalid
from schema.kit.pages import MOST_PER_PAGE
from schema.languages.speech import gettext, noted
from storage.enums import CustomerType, MemberRole

ROLES = {
    MemberRole.MEMBER: noted("Member"),
    MemberRole.BILLING_MANAGER: noted("Billing manager"),
    MemberRole.OWNER: noted("Owner"),
}


async def show_members(portal: PortalVisit) -> Response:
    return await _show_members(portal, Form.of(role=MemberRole.MEMBER.value))


async def take_member(portal: PortalVisit) -> Response:
    form = await portal.visit.form()
    data = {"email": form.text("email"), "name": form.optional("name"), "role": form.text("role")}
    try:
        member = await portal.visit.call(create_portal_member, key=form.raw("once"), data=data)
    except Invalid as invalid:
        return await _show_members(portal, form.refused(invalid), 422)
    return portal.visit.redirect(f"{portal.path}/members", gettext("Added %(email)s.", email=member.email))


async def show_member(portal: PortalVisit) -> Response:
    member = await portal.visit.call(get_portal_member, id=portal.visit.request.path_params["id"])
    return await _show_member(portal, Form.of(email=member.email, name=member.name, role=member.role.value))


async def take_change(portal: PortalVisit) -> Response:
    form = await portal.visit.form()
    data = {"email": form.text("email"), "name": form.optional("name"), "role": form.text("role")}
    try:
        member = await portal.visit.call(
            update_portal_member, id=portal.visit.request.path_params["id"], data=data
        )
    except Invalid as invalid:
        return await _show_member(portal, form.refused(invalid), 422)
    return portal.visit.redirect(f"{portal.path}/members", gettext("Saved %(email)s.", email=member.email))


async def remove_member(portal: PortalVisit) -> Response:
    form = await portal.visit.form()
    try:
        await portal.visit.call(delete_portal_member, id=portal.visit.request.path_params["id"])
    except Invalid as invalid:
        return await _show_member(portal, form.refused(invalid), 422)
    return portal.visit.redirect(f"{portal.path}/members", gettext("Member removed."))


async def _show_members(portal: PortalVisit, form: Form, status_code: int = 200) -> Response:
    query = {"limit": MOST_PER_PAGE, "page": portal.visit.page_number}
    listing = await portal.visit.call(list_portal_members, filters=query)
    return portal.render(
        "portal_members.html",
        status_code=status_code,
        form=form,
        listing=listing,
        roles={role: gettext(name) for role, name in ROLES.items()},
        may_change=await _may_change(portal),
    )


async def _show_member(portal: PortalVisit, form: Form, status_code: int = 200) -> Response:
    member = await portal.visit.call(get_portal_member, id=portal.visit.request.path_params["id"])
    return portal.render(
        "portal_member.html",
        status_code=status_code,
        form=form,
        member=member,
        roles={role: gettext(name) for role, name in ROLES.items()},
        may_change=await _may_change(portal),
    )


async def _may_change(portal: PortalVisit) -> bool:
    """Whether the page offers changes; the resolvers decide."""
    customer = await portal.visit.call(get_portal_customer)
    member = portal.session.member if portal.session else None
    is_owner = member is None or member.role is MemberRole.OWNER
    return customer.type is CustomerType.TEAM and is_owner
