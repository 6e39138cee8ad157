"""Pages of a workspace's webhook endpoints: create, change, rotate the secret, test, delete."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from resolvers.webhooks.deliveries import list_webhook_deliveries, redeliver_webhook_endpoint
from resolvers.webhooks.endpoints import (
    create_webhook_endpoint,
    delete_webhook_endpoint,
    get_webhook_endpoint,
    list_webhook_endpoints,
    rotate_webhook_endpoint_secret,
    update_webhook_endpoint,
)
from resolvers.webhooks.trials import test_webhook_endpoint
from schema.errors import Invalid, NotFound
from schema.kit.pages import MOST_PER_PAGE
from schema.values.prose import write_number
from schema.webhooks.deliveries import WebhookAttempt
from schema.webhooks.endpoints import ALL, WebhookEndpoint
from storage.changes.kinds import ChangeKind
from storage.clock import now
from storage.enums import DeliveryStatus
from storage.retention.rules import WEBHOOKS_KEPT_FOR

PATH = f"{HOME_PATH}/{{slug}}/webhooks"
ROWS_PER_PAGE = 20
STATUSES = {"": "all", **{status.value: status.value for status in DeliveryStatus}}


def webhook_routes() -> list[Route]:
    return [
        Route(PATH, page(show_list)),
        Route(PATH, page(make), methods=["POST"]),
        Route(f"{PATH}/{{id}}", page(show_one)),
        Route(f"{PATH}/{{id}}", page(change), methods=["POST"]),
        Route(f"{PATH}/{{id}}/rotate", page(rotate), methods=["POST"]),
        Route(f"{PATH}/{{id}}/test", page(test), methods=["POST"]),
        Route(f"{PATH}/{{id}}/redeliver", page(redeliver), methods=["POST"]),
        Route(f"{PATH}/{{id}}/delete", page(delete), methods=["POST"]),
    ]


async def show_list(visit: Visit) -> Response:
    return await _show_list(visit, Form.of())


async def make(visit: Visit) -> Response:
    """Create an endpoint and show its page with the secret; the same form shows the same page again."""
    form = await visit.form()
    workspace = await workspace_of(visit)
    data = {**_data(form), "workspace_id": str(workspace.id)}
    try:
        made = await visit.call(create_webhook_endpoint, key=form.raw("once"), data=data)
    except Invalid as invalid:
        return await _show_list(visit, form.refused(invalid), 422)
    return await _show_one(visit, made.webhook_endpoint, status_code=201, secret=made.secret)


async def show_one(visit: Visit) -> Response:
    return await _show_one(visit, await endpoint_of(visit))


async def change(visit: Visit) -> Response:
    form = await visit.form()
    endpoint = await endpoint_of(visit)
    data = {**_data(form), "is_enabled": form.checked("is_enabled")}
    try:
        await visit.call(update_webhook_endpoint, id=endpoint.id, data=data)
    except Invalid as invalid:
        return await _show_one(visit, endpoint, form.refused(invalid), 422)
    return visit.redirect(visit.request.url.path, "Endpoint saved.")


async def rotate(visit: Visit) -> Response:
    form = await visit.form()
    endpoint = await endpoint_of(visit)
    made = await visit.call(rotate_webhook_endpoint_secret, key=form.raw("once"), id=endpoint.id)
    return await _show_one(visit, made.webhook_endpoint, status_code=201, secret=made.secret)


async def test(visit: Visit) -> Response:
    """Send a test and show what became of it."""
    await visit.form()
    endpoint = await endpoint_of(visit)
    return await _show_one(visit, endpoint, tried=await visit.call(test_webhook_endpoint, id=endpoint.id))


async def redeliver(visit: Visit) -> Response:
    await visit.form()
    endpoint = await endpoint_of(visit)
    path = visit.request.url.path.rpartition("/")[0]
    since = (now() - WEBHOOKS_KEPT_FOR).isoformat()
    try:
        made = await visit.call(redeliver_webhook_endpoint, id=endpoint.id, data={"since": since})
    except Invalid as invalid:
        return visit.redirect(path, f"{invalid.problems[0]['msg']}.")
    some = "1 delivery is" if made.redelivered == 1 else f"{write_number(made.redelivered)} deliveries are"
    return visit.redirect(path, f"{some} sent again." + (" More remain." if made.has_more else ""))


async def delete(visit: Visit) -> Response:
    await visit.form()
    endpoint = await endpoint_of(visit)
    await visit.call(delete_webhook_endpoint, id=endpoint.id)
    return visit.redirect(visit.request.url.path.rsplit("/", 2)[0], "The endpoint is deleted.")


async def endpoint_of(visit: Visit) -> WebhookEndpoint:
    """The endpoint in the page's address. Raises `NotFound`."""
    workspace = await workspace_of(visit)
    endpoint: WebhookEndpoint = await visit.call(get_webhook_endpoint, id=visit.request.path_params["id"])
    if endpoint.workspace_id != workspace.id:
        raise NotFound("There is no such webhook endpoint.")
    return endpoint


def _data(form: Form) -> dict[str, Any]:
    kinds = form.all("kinds")
    return {
        "url": form.text("url"),
        "description": form.optional("description"),
        "kinds": [ALL] if ALL in kinds else kinds,
        "document": form.optional("document"),
    }


def _kinds() -> Mapping[str, Sequence[ChangeKind]]:
    """The kinds by resource, in words."""
    return {
        _in_words(resource): list(kinds)
        for resource, kinds in groupby(ChangeKind, lambda kind: kind.resource)
    }


def _in_words(resource: str) -> str:
    words = resource.replace("file_share", "file-share").replace("oauth", "OAuth").replace("_", " ")
    return words[:1].upper() + words[1:]


async def _show_list(visit: Visit, form: Form, status_code: int = 200) -> Response:
    workspace = await workspace_of(visit)
    query = {"workspace_id": [str(workspace.id)], "limit": MOST_PER_PAGE}
    return visit.render(
        "webhooks.html",
        status_code=status_code,
        workspace=workspace,
        form=form,
        kinds=_kinds(),
        listing=await visit.call(list_webhook_endpoints, filters=query),
    )


async def _show_one(
    visit: Visit,
    endpoint: WebhookEndpoint,
    form: Form | None = None,
    status_code: int = 200,
    *,
    secret: str | None = None,
    tried: WebhookAttempt | None = None,
) -> Response:
    if form is None:
        names = ("url", "description", "kinds", "document", "is_enabled")
        form = Form.of(**{name: getattr(endpoint, name) for name in names})
    status = visit.request.query_params.get("status", "")
    status = status if status in STATUSES else ""
    query = {
        "workspace_id": [str(endpoint.workspace_id)],
        "endpoint_id": [str(endpoint.id)],
        "limit": ROWS_PER_PAGE,
        "page": visit.page_number,
        **({"status": [status]} if status else {}),
    }
    return visit.render(
        "webhook.html",
        status_code=status_code,
        workspace=await workspace_of(visit),
        endpoint=endpoint,
        form=form,
        kinds=_kinds(),
        secret=secret,
        tried=tried,
        status=status,
        statuses=STATUSES,
        listing=await visit.call(list_webhook_deliveries, filters=query),
    )
