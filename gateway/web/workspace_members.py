"""The members of a workspace: who belongs to it, inviting, removing."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.forms import Form
from gateway.web.visits import HOME_PATH, Visit, page
from gateway.web.workspaces import workspace_of
from resolvers.workspace_members import (
    invite_workspace_member,
    list_workspace_members,
    remove_workspace_member,
)
from schema.errors import Invalid
from schema.pages import MOST_PER_PAGE

PATH = f"{HOME_PATH}/{{slug}}/members"


def member_routes() -> list[Route]:
    return [
        Route(PATH, page(show)),
        Route(PATH, page(invite), methods=["POST"]),
        Route(f"{PATH}/{{id}}/remove", page(remove), methods=["POST"]),
    ]


async def show(visit: Visit) -> Response:
    return await _show(visit, Form.of())


async def invite(visit: Visit) -> Response:
    form = await visit.form()
    workspace = await workspace_of(visit)
    data = {"email": form.text("email"), "workspace_id": str(workspace.id)}
    try:
        member = await visit.call(invite_workspace_member, key=form.raw("once"), data=data)
    except Invalid as invalid:
        return await _show(visit, form.refused(invalid), 422)
    return visit.redirect(visit.request.url.path, f"{member.email} is {member.status}.")


async def remove(visit: Visit) -> Response:
    form = await visit.form()
    path = f"{HOME_PATH}/{visit.request.path_params['slug']}/members"
    try:
        await visit.call(remove_workspace_member, id=visit.request.path_params["id"])
    except Invalid as invalid:
        return await _show(visit, form.refused(invalid), 422)
    return visit.redirect(path, "They are no longer here.")


async def _show(visit: Visit, form: Form, status_code: int = 200) -> Response:
    workspace = await workspace_of(visit)
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE, "page": visit.page_number}
    found = await visit.call(list_workspace_members, filters=query)
    return visit.render(
        "workspace_members.html", status_code=status_code, workspace=workspace, form=form, found=found
    )
