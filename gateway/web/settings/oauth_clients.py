"""Pages of a workspace's OAuth applications: create, change, rotate the secret, delete."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import HOME_PATH, Visit
from gateway.web.kit.workspaces import workspace_of
from gateway.web.settings.scopes import chosen_scopes, in_order, scope_choice
from gateway.web.settings.secret_pages import SecretPages
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
from schema.kit.pages import MOST_PER_PAGE

PATH = f"{HOME_PATH}/{{slug}}/oauth-clients"
LINKS = ("client_uri", "policy_uri", "tos_uri")


def _data(form: Form) -> dict[str, Any]:
    return {
        "name": form.text("name"),
        "redirect_uris": form.raw("redirect_uris").split(),
        "scopes": chosen_scopes(form, CLIENT_SCOPES),
        **{name: form.optional(name) for name in LINKS},
    }


def _filled(data: Mapping[str, Any]) -> Form:
    uris = "\n".join(data["redirect_uris"])
    return Form.of(**{**data, "redirect_uris": uris, "scopes": in_order(data["scopes"])})


async def _show_list(visit: Visit, form: Form, status_code: int) -> Response:
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
    visit: Visit,
    client: OAuthClient,
    form: Form | None = None,
    status_code: int = 200,
    *,
    secret: str | None = None,
) -> Response:
    form = form or PAGES.opened(client)
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


PAGES = SecretPages(
    noun="OAuth application",
    shown=lambda made: (made.oauth_client, made.client_secret),
    create=create_oauth_client,
    find=get_oauth_client,
    update=update_oauth_client,
    rotate_secret=rotate_oauth_client_secret,
    remove=delete_oauth_client,
    empty=Form.of(scopes=["openid", "email"]),
    new=lambda form: {**_data(form), "is_public": form.checked("is_public")},
    changed=_data,
    filled=_filled,
    fields=("name", "redirect_uris", "scopes", *LINKS),
    saved="Application saved.",
    told=lambda client: f"{client.name} is deleted, and all its tokens are revoked.",
    show_list=_show_list,
    show_one=_show_one,
)


def oauth_client_routes() -> list[Route]:
    return PAGES.routes(PATH)
