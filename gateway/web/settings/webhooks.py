"""Pages of a workspace's webhook endpoints: create, change, rotate the secret, test, delete."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.forms import Form
from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from gateway.web.settings.secret_pages import SecretPages
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
from schema.errors import Invalid
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


async def test(visit: Visit) -> Response:
    """Send a test and show what became of it."""
    await visit.form()
    endpoint = await PAGES.resource_of(visit)
    return await _show_one(visit, endpoint, tried=await visit.call(test_webhook_endpoint, id=endpoint.id))


async def redeliver(visit: Visit) -> Response:
    await visit.form()
    endpoint = await PAGES.resource_of(visit)
    path = visit.request.url.path.rpartition("/")[0]
    since = (now() - WEBHOOKS_KEPT_FOR).isoformat()
    try:
        made = await visit.call(redeliver_webhook_endpoint, id=endpoint.id, data={"since": since})
    except Invalid as invalid:
        return visit.redirect(path, f"{invalid.problems[0]['msg']}.")
    some = "1 delivery is" if made.redelivered == 1 else f"{write_number(made.redelivered)} deliveries are"
    return visit.redirect(path, f"{some} sent again." + (" More remain." if made.has_more else ""))


def _data(form: Form) -> dict[str, Any]:
    kinds = form.all("kinds")
    return {
        "url": form.text("url"),
        "description": form.optional("description"),
        "kinds": [ALL] if ALL in kinds else kinds,
        "document": form.optional("document"),
    }


def _filled(data: Mapping[str, Any]) -> Form:
    kinds = frozenset(map(str, data["kinds"]))
    return Form.of(**{**data, "kinds": [kind for kind in (ALL, *ChangeKind) if kind in kinds]})


def _kinds() -> Mapping[str, Sequence[ChangeKind]]:
    """The kinds by resource, in words."""
    return {
        _in_words(resource): list(kinds)
        for resource, kinds in groupby(ChangeKind, lambda kind: kind.resource.removesuffix("s"))
    }


def _in_words(resource: str) -> str:
    words = resource.replace("file_share", "file-share").replace("oauth", "OAuth").replace("_", " ")
    return words[:1].upper() + words[1:]


async def _show_list(visit: Visit, form: Form, status_code: int) -> Response:
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
    form = form or PAGES.opened(endpoint)
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


PAGES = SecretPages(
    noun="webhook endpoint",
    shown=lambda made: (made.webhook_endpoint, made.secret),
    create=create_webhook_endpoint,
    find=get_webhook_endpoint,
    update=update_webhook_endpoint,
    rotate_secret=rotate_webhook_endpoint_secret,
    remove=delete_webhook_endpoint,
    empty=Form.of(),
    new=_data,
    changed=lambda form: {**_data(form), "is_enabled": form.checked("is_enabled")},
    filled=_filled,
    fields=("url", "description", "kinds", "document", "is_enabled"),
    saved="Endpoint saved.",
    told=lambda _: "The endpoint is deleted.",
    show_list=_show_list,
    show_one=_show_one,
)


def webhook_routes() -> list[Route]:
    return [
        *PAGES.routes(PATH),
        Route(f"{PATH}/{{id}}/test", page(test), methods=["POST"]),
        Route(f"{PATH}/{{id}}/redeliver", page(redeliver), methods=["POST"]),
    ]
