"""The signed-in user's workspaces: list, create, change settings, and delete."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.languages import NAMES
from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.settings.merging import Settings, merged, opened
from gateway.web.settings.pictures import picture_policy, pictures_for
from resolvers.workspaces.copying import copy_workspace
from resolvers.workspaces.deletion import delete_workspace
from resolvers.workspaces.invitations import list_workspace_invitations
from resolvers.workspaces.members import list_workspace_members
from resolvers.workspaces.workspaces import create_workspace, list_workspaces, update_workspace
from schema.errors import Invalid, problem
from schema.kit.pages import MOST_PER_PAGE
from schema.values.prose import write_size
from schema.workspaces.workspaces import Workspace
from storage.enums import Currency, FileService, WorkspaceRole
from storage.metrics.zones import is_zone, zone_names

REQUIRED = ("name", "default_presentment_currency")
OPTIONAL = ("email", "website", "avatar_url", "timezone", "language")
# The settings with a checkbox on the page, named as in the API. The API also stores settings that change
# nothing here; a page that offered them would promise something.
SWITCHES = (
    "feature_settings.member_model_enabled",
    "feature_settings.analytics_compare",
    "notification_settings.new_payment",
    "customer_email_settings.payment_confirmation",
    "customer_portal_settings.usage.show",
)


def workspace_routes() -> list[Route]:
    return [
        Route(HOME_PATH, page(show_workspaces)),
        Route(HOME_PATH, page(take_workspace), methods=["POST"]),
        Route(f"{HOME_PATH}/{{slug}}", page(show_settings)),
        Route(f"{HOME_PATH}/{{slug}}", page(take_settings), methods=["POST"]),
        Route(f"{HOME_PATH}/{{slug}}/copy", page(take_copy), methods=["POST"]),
        Route(f"{HOME_PATH}/{{slug}}/delete", page(take_deletion), methods=["POST"]),
    ]


async def is_owner_of(visit: Visit, workspace: Workspace) -> bool:
    """Whether the user is an owner of the workspace."""
    if visit.user is None:
        return False
    query = {"workspace_id": [str(workspace.id)], "user_id": [str(visit.user.id)]}
    members = await visit.call(list_workspace_members, filters=query)
    return any(member.role is WorkspaceRole.OWNER for member in members.data)


async def show_workspaces(visit: Visit) -> Response:
    return await _show_list(visit, Form.of())


async def take_workspace(visit: Visit) -> Response:
    form = await visit.form()
    data = {"name": form.text("name"), "slug": form.text("slug")}
    # The browser's, which a script enters: nobody typed one that we do not know.
    if is_zone(zone := form.text("timezone")):
        data["timezone"] = zone
    try:
        workspace = await visit.call(create_workspace, key=form.raw("once"), data=data)
    except Invalid as invalid:
        return await _show_list(visit, form.refused(invalid), 422)
    return visit.redirect(f"/{workspace.slug}/dashboard", f"{workspace.name} is ready.")


async def show_settings(visit: Visit) -> Response:
    workspace = await workspace_of(visit)
    return await _show_settings(visit, workspace, opened(_saved(workspace)))


async def take_settings(visit: Visit) -> Response:
    form = await visit.form()
    workspace = await workspace_of(visit)
    settings = merged(form, _saved(workspace), (*REQUIRED, *OPTIONAL, *SWITCHES))
    if settings.form.problems:
        return await _show_settings(visit, workspace, settings.form, 409)
    try:
        await visit.call(update_workspace, id=workspace.id, data=_data(settings))
    except Invalid as invalid:
        return await _show_settings(visit, workspace, settings.form.refused(invalid), 422)
    return visit.redirect(visit.request.url.path, "Settings saved.")


def _data(settings: Settings) -> dict[str, Any]:
    """The settings that are to be saved."""
    data: dict[str, Any] = {
        name: settings.form.text(name) for name in settings.changed.intersection(REQUIRED)
    }
    data |= {name: settings.form.optional(name) for name in settings.changed.intersection(OPTIONAL)}
    for name in settings.changed.intersection(SWITCHES):
        *objects, last = name.split(".")
        place = data
        for key in objects:
            place = place.setdefault(key, {})
        place[last] = settings.form.checked(name)
    return data


async def take_copy(visit: Visit) -> Response:
    """Make a test workspace, and show it."""
    form = await visit.form()
    workspace = await workspace_of(visit)
    data = {name: form.checked(name) for name in ("include_customers", "include_history")}
    copy = await visit.call(copy_workspace, key=form.raw("once"), id=workspace.id, data=data)
    return visit.redirect(f"/{copy.slug}/dashboard", f"{copy.name} is ready.")


async def take_deletion(visit: Visit) -> Response:
    """Delete the workspace whose slug was typed."""
    form = await visit.form()
    workspace = await workspace_of(visit)
    if form.text("slug").lower() != workspace.slug:
        message = f"This is not the slug of the workspace, {workspace.slug}"
        wrong = Invalid([problem(("data", "slug"), message, "confirmation")])
        saved = opened(_saved(workspace))
        return await _show_settings(visit, workspace, saved, 422, deletion=form.refused(wrong))
    await visit.call(delete_workspace, id=workspace.id)
    return visit.redirect(HOME_PATH, f"{workspace.name} is deleted.")


async def _show_settings(
    visit: Visit,
    workspace: Workspace,
    form: Form,
    status_code: int = 200,
    *,
    deletion: Form | None = None,
) -> Response:
    currencies = [(currency.value, currency.value.upper()) for currency in Currency]
    pictures = await pictures_for(visit, workspace, form)
    return visit.render(
        "workspace_settings.html",
        status_code=status_code,
        policy=await picture_policy(visit, pictures),
        workspace=workspace,
        form=form,
        currencies=currencies,
        zones=zone_names(),
        portal_languages=[
            ("", "The language of the browser"),
            *((each.value, name) for each, name in NAMES.items()),
        ],
        pictures=pictures,
        is_owner=await is_owner_of(visit, workspace),
        deletion=deletion or Form.of(),
        largest_picture=write_size(visit.ctx.services.size_limits[FileService.WORKSPACE_AVATAR]),
    )


async def _show_list(visit: Visit, form: Form, status_code: int = 200) -> Response:
    query = {"limit": MOST_PER_PAGE, "page": visit.page_number, "sorting": ["name"]}
    listing = await visit.call(list_workspaces, filters=query)
    invitations = await visit.call(list_workspace_invitations, filters={"limit": 1})
    return visit.render(
        "workspaces.html",
        status_code=status_code,
        form=form,
        listing=listing,
        invitations=invitations.meta.total,
    )


def _saved(workspace: Workspace) -> Form:
    """The settings as they are."""
    values = workspace.model_dump(mode="json")
    switches = {name: _at(values, name) for name in SWITCHES}
    return Form.of(**{name: values.get(name) for name in (*REQUIRED, *OPTIONAL)}, **switches)


def _at(values: Any, name: str) -> Any:
    for key in name.split("."):
        values = values[key]
    return values
