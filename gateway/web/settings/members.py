"""The members of a workspace: list, invite, change roles, remove and leave."""

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.settings.workspaces import is_owner_of
from resolvers.credentials.oauth_clients import list_oauth_clients
from resolvers.credentials.workspace_access_tokens import list_workspace_access_tokens
from resolvers.workspaces.members import (
    get_workspace_member,
    invite_workspace_member,
    list_workspace_members,
    remove_workspace_member,
    update_workspace_member,
)
from schema.errors import Invalid, NotFound
from schema.kit.pages import MOST_PER_PAGE
from schema.workspaces.members import WorkspaceMember
from schema.workspaces.workspaces import Workspace
from storage.enums import WorkspaceRole

PATH = f"{HOME_PATH}/{{slug}}/members"
ROLES = ((WorkspaceRole.MEMBER.value, "Member"), (WorkspaceRole.OWNER.value, "Owner"))


def member_routes() -> list[Route]:
    return [
        Route(PATH, page(show)),
        Route(PATH, page(invite), methods=["POST"]),
        Route(f"{PATH}/{{id}}/role", page(change_role), methods=["POST"]),
        Route(f"{PATH}/{{id}}/remove", page(show_removal)),
        Route(f"{PATH}/{{id}}/remove", page(remove), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    return await _show(visit, _new_form())


async def invite(visit: Visit) -> Response:
    """Invite an address, or renew its invitation."""
    form = await visit.form()
    workspace = await workspace_of(visit)
    data = {"email": form.text("email"), "role": form.raw("role"), "workspace_id": str(workspace.id)}
    try:
        member = await visit.call(invite_workspace_member, key=form.raw("once"), data=data)
    except Invalid as invalid:
        return await _show(visit, form.refused(invalid), 422)
    return visit.redirect(
        visit.request.url.path, f"Invited {member.email}. The invitation expires in 7 days."
    )


async def change_role(visit: Visit) -> Response:
    form = await visit.form()
    workspace, member = await _member(visit)
    try:
        changed = await visit.call(update_workspace_member, id=member.id, data={"role": form.raw("role")})
    except Invalid as invalid:
        return await _show(visit, _new_form().refused(invalid), 422)
    role = "an owner" if changed.role is WorkspaceRole.OWNER else "a member"
    return visit.redirect(_members_path(workspace), f"{changed.name or changed.email} is now {role}.")


async def show_removal(visit: Visit) -> Response:
    """Ask for confirmation, with a list of what ends with the membership."""
    workspace, member = await _member(visit)
    return await _show_removal(visit, workspace, member, Form.of(revoke_created=True))


async def remove(visit: Visit) -> Response:
    form = await visit.form()
    workspace, member = await _member(visit)
    try:
        await visit.call(remove_workspace_member, id=member.id, revoke_created=form.checked("revoke_created"))
    except Invalid as invalid:
        return await _show_removal(visit, workspace, member, form.refused(invalid), 422)
    if _is_self(visit, member):
        return visit.redirect(HOME_PATH, f"You left {workspace.name}.")
    ended = "is no longer a member" if member.user_id else "is no longer invited"
    return visit.redirect(_members_path(workspace), f"{member.name or member.email} {ended}.")


async def _member(visit: Visit) -> tuple[Workspace, WorkspaceMember]:
    """The workspace and member in the page's address. Raises `NotFound`."""
    workspace = await workspace_of(visit)
    member: WorkspaceMember = await visit.call(get_workspace_member, id=visit.request.path_params["id"])
    if member.workspace_id != workspace.id:
        raise NotFound("There is no such workspace member.")
    return workspace, member


async def _show(visit: Visit, form: Form, status_code: int = 200) -> Response:
    workspace = await workspace_of(visit)
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE, "page": visit.page_number}
    return visit.render(
        "workspace_members.html",
        status_code=status_code,
        workspace=workspace,
        form=form,
        roles=ROLES,
        listing=await visit.call(list_workspace_members, filters=query),
        is_owner=await is_owner_of(visit, workspace),
    )


async def _show_removal(
    visit: Visit, workspace: Workspace, member: WorkspaceMember, form: Form, status_code: int = 200
) -> Response:
    created = []
    if member.user_id is not None:
        query = {
            "workspace_id": [str(workspace.id)],
            "created_by": [str(member.user_id)],
            "limit": MOST_PER_PAGE,
        }
        created = [
            await visit.call(find, filters=query)
            for find in (list_workspace_access_tokens, list_oauth_clients)
        ]
    return visit.render(
        "workspace_member_removal.html",
        status_code=status_code,
        workspace=workspace,
        member=member,
        form=form,
        tokens=created[0] if created else None,
        clients=created[1] if created else None,
        is_self=_is_self(visit, member),
        is_owner=await is_owner_of(visit, workspace),
    )


def _new_form() -> Form:
    return Form.of(role=WorkspaceRole.MEMBER.value)


def _is_self(visit: Visit, member: WorkspaceMember) -> bool:
    return visit.user is not None and member.user_id == visit.user.id


def _members_path(workspace: Workspace) -> str:
    return f"{HOME_PATH}/{workspace.slug}/members"
