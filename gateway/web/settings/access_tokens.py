"""Pages of workspace and personal access tokens: list, create, show once, revoke."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.settings.scopes import chosen_scopes, scope_choice
from gateway.web.settings.workspaces import is_owner_of
from oauth.scopes import USER_SCOPES, WORKSPACE_SCOPES, Scope
from resolvers.credentials.personal_access_tokens import (
    create_personal_access_token,
    delete_personal_access_token,
    list_personal_access_tokens,
)
from resolvers.credentials.workspace_access_tokens import (
    create_workspace_access_token,
    delete_workspace_access_token,
    list_workspace_access_tokens,
)
from schema.errors import Invalid
from schema.kit.pages import MOST_PER_PAGE
from schema.workspaces.workspaces import Workspace

DAY = 24 * 60 * 60
LIVES = (
    (str(7 * DAY), "7 days"),
    (str(30 * DAY), "30 days"),
    (str(90 * DAY), "90 days"),
    (str(365 * DAY), "1 year"),
    ("", "No expiration"),
)
USUAL_LIFE = str(30 * DAY)


@dataclass(frozen=True)
class TokenPages:
    """The pages of one kind of token."""

    template: str
    scopes: frozenset[Scope]
    create: Callable[..., Any]
    delete: Callable[..., Any]
    find: Callable[..., Any]
    of_workspace: bool

    def routes(self, path: str) -> list[Route]:
        return [
            Route(path, page(self.show)),
            Route(path, page(self.make), methods=["POST"]),
            Route(f"{path}/{{id}}/revoke", page(self.revoke), methods=["POST"]),
        ]

    async def show(self, visit: Visit) -> Response:
        return await self._show(visit, Form.of(expires_in=USUAL_LIFE))

    async def make(self, visit: Visit) -> Response:
        """Create a token and show it; the same form shows the same token again, for a day."""
        form = await visit.form()
        workspace = await self._workspace(visit)
        seconds = form.optional("expires_in")
        data: dict[str, Any] = {"comment": form.text("comment"), "scopes": chosen_scopes(form, self.scopes)}
        data["expires_in"] = int(seconds) if seconds and seconds.isascii() and seconds.isdigit() else seconds
        if workspace is not None:
            data["workspace_id"] = str(workspace.id)
        try:
            made = await visit.call(self.create, key=form.raw("once"), data=data)
        except Invalid as invalid:
            return await self._show(visit, form.refused(invalid), 422)
        base_url = visit.ctx.services.base_url
        return await self._show(
            visit, Form.of(expires_in=USUAL_LIFE), 201, token=made.token, base_url=base_url
        )

    async def revoke(self, visit: Visit) -> Response:
        await visit.form()
        await visit.call(self.delete, id=visit.request.path_params["id"])
        path = visit.request.url.path.rsplit("/", 2)[0]
        return visit.redirect(path, "Token revoked. Its next request fails.")

    async def _show(self, visit: Visit, form: Form, status_code: int = 200, **made: str) -> Response:
        workspace = await self._workspace(visit)
        query: dict[str, Any] = {"limit": MOST_PER_PAGE, "page": visit.page_number}
        if workspace is not None:
            query["workspace_id"] = [str(workspace.id)]
        return visit.render(
            self.template,
            status_code=status_code,
            workspace=workspace,
            form=form,
            listing=await visit.call(self.find, filters=query),
            scopes=scope_choice(form, self.scopes),
            lives=LIVES,
            made=made,
            may_manage=workspace is None or await is_owner_of(visit, workspace),
        )

    async def _workspace(self, visit: Visit) -> Workspace | None:
        return await workspace_of(visit) if self.of_workspace else None


OF_WORKSPACES = TokenPages(
    "workspace_access_tokens.html",
    WORKSPACE_SCOPES,
    create_workspace_access_token,
    delete_workspace_access_token,
    list_workspace_access_tokens,
    of_workspace=True,
)
OF_USERS = TokenPages(
    "personal_access_tokens.html",
    USER_SCOPES,
    create_personal_access_token,
    delete_personal_access_token,
    list_personal_access_tokens,
    of_workspace=False,
)


def access_token_routes() -> list[Route]:
    return [
        *OF_WORKSPACES.routes(f"{HOME_PATH}/{{slug}}/access-tokens"),
        *OF_USERS.routes("/account/personal-access-tokens"),
    ]
