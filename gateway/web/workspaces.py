"""The workspaces of whoever is signed in, and making one."""

from __future__ import annotations

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.forms import Form
from gateway.web.visits import HOME_PATH, Visit, page
from resolvers.workspaces import create_workspace, list_workspaces
from schema.errors import Invalid
from schema.pages import MOST_PER_PAGE


def workspace_routes() -> list[Route]:
    return [
        Route(HOME_PATH, page(show_workspaces)),
        Route(HOME_PATH, page(take_workspace), methods=["POST"]),
    ]


async def show_workspaces(visit: Visit) -> Response:
    return await _show(visit, Form.of())


async def take_workspace(visit: Visit) -> Response:
    form = await visit.form()
    data = {"name": form.text("name"), "slug": form.text("slug")}
    try:
        workspace = await visit.call(create_workspace, key=form.raw("once"), data=data)
    except Invalid as invalid:
        return await _show(visit, form.refused(invalid), 422)
    return visit.redirect(HOME_PATH, f"{workspace.name} is ready.")


async def _show(visit: Visit, form: Form, status_code: int = 200) -> Response:
    query = {"limit": MOST_PER_PAGE, "page": visit.page_number, "sorting": ["name"]}
    found = await visit.call(list_workspaces, filters=query)
    return visit.render("workspaces.html", status_code=status_code, form=form, found=found)
