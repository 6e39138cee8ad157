"""Pages of a workspace's OAuth applications: create, change, rotate the secret, delete."""

from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.settings.scopes import chosen_scopes, scope_choice
from gateway.web.settings.workspaces import is_owner_of
from oauth.scopes import CLIENT_SCOPES
from resolvers.credentials.oauth_clients import (
    create_oauth_client,
    delete_oauth_client,
    get_oauth_client,
    list_oauth_clients,
    rotate_oauth_client_secret,
    update_oauth_client,
)
from schema.credentials.oauth_clients import OAuthClient
from schema.errors import Invalid, NotFound
from schema.kit.pages import MOST_PER_PAGE

PATH = f"{HOME_PATH}/{{slug}}/oauth-clients"
LINKS = ("client_uri", "policy_uri", "tos_uri")


def oauth_client_routes() -> list[Route]:
    return [
        Route(PATH, page(show_list)),
        Route(PATH, page(make), methods=["POST"]),
        Route(f"{PATH}/{{id}}", page(show_one)),
        Route(f"{PATH}/{{id}}", page(change), methods=["POST"]),
        Route(f"{PATH}/{{id}}/rotate", page(rotate), methods=["POST"]),
        Route(f"{PATH}/{{id}}/delete", page(delete), methods=["POST"]),
    ]


async def show_list(visit: Visit) -> Response:
    return await _show_list(visit, Form.of(scopes=["openid", "email"]))


async def make(visit: Visit) -> Response:
    """Create a client and show its page with the secret; the same form shows the same page again."""
    form = await visit.form()
    workspace = await workspace_of(visit)
    data = {**_data(form), "is_public": form.checked("is_public"), "workspace_id": str(workspace.id)}
    try:
        made = await visit.call(create_oauth_client, key=form.raw("once"), data=data)
    except Invalid as invalid:
        return await _show_list(visit, form.refused(invalid), 422)
    return await _show_one(visit, made.oauth_client, None, 201, secret=made.client_secret)


async def show_one(visit: Visit) -> Response:
    return await _show_one(visit, await _client(visit), None)


async def change(visit: Visit) -> Response:
    form = await visit.form()
    client = await _client(visit)
    try:
        await visit.call(update_oauth_client, id=client.id, data=_data(form))
    except Invalid as invalid:
        return await _show_one(visit, client, form.refused(invalid), 422)
    return visit.redirect(visit.request.url.path, "Application saved.")


async def rotate(visit: Visit) -> Response:
    form = await visit.form()
    client = await _client(visit)
    made = await visit.call(rotate_oauth_client_secret, key=form.raw("once"), id=client.id)
    return await _show_one(visit, made.oauth_client, None, 201, secret=made.client_secret)


async def delete(visit: Visit) -> Response:
    await visit.form()
    client = await _client(visit)
    await visit.call(delete_oauth_client, id=client.id)
    path = visit.request.url.path.rsplit("/", 2)[0]
    return visit.redirect(path, f"{client.name} is deleted, and all its tokens are revoked.")


def _data(form: Form) -> dict[str, Any]:
    return {
        "name": form.text("name"),
        "redirect_uris": form.raw("redirect_uris").split(),
        "scopes": chosen_scopes(form, CLIENT_SCOPES),
        **{name: form.optional(name) for name in LINKS},
    }


async def _client(visit: Visit) -> OAuthClient:
    workspace = await workspace_of(visit)
    client: OAuthClient = await visit.call(get_oauth_client, id=visit.request.path_params["id"])
    if client.workspace_id != workspace.id:
        raise NotFound("There is no such OAuth client.")
    return client


async def _show_list(visit: Visit, form: Form, status_code: int = 200) -> Response:
    workspace = await workspace_of(visit)
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE, "page": visit.page_number}
    return visit.render(
        "oauth_clients.html",
        status_code=status_code,
        workspace=workspace,
        form=form,
        listing=await visit.call(list_oauth_clients, filters=query),
        is_owner=await is_owner_of(visit, workspace),
        scopes=scope_choice(form, CLIENT_SCOPES),
    )


async def _show_one(
    visit: Visit, client: OAuthClient, form: Form | None, status_code: int = 200, secret: str | None = None
) -> Response:
    if form is None:
        values = {name: getattr(client, name) for name in ("name", "scopes", *LINKS)}
        form = Form.of(**values, redirect_uris="\n".join(client.redirect_uris))
    workspace = await workspace_of(visit)
    return visit.render(
        "oauth_client.html",
        status_code=status_code,
        workspace=workspace,
        is_owner=await is_owner_of(visit, workspace),
        client=client,
        form=form,
        secret=secret,
        scopes=scope_choice(form, CLIENT_SCOPES),
    )
