"""The page of one webhook delivery, with both sides of each attempt."""

from starlette.responses import Response
from starlette.routing import Route

from gateway.web.kit.visits import HOME_PATH, Visit, page
from gateway.web.kit.workspaces import workspace_of
from resolvers.webhooks.deliveries import get_webhook_delivery, redeliver_webhook_delivery
from resolvers.webhooks.endpoints import get_webhook_endpoint
from schema.errors import Invalid, NotFound
from schema.webhooks.deliveries import WebhookDelivery

PATH = f"{HOME_PATH}/{{slug}}/webhook-deliveries/{{id}}"


def webhook_delivery_routes() -> list[Route]:
    return [Route(PATH, page(show)), Route(f"{PATH}/redeliver", page(redeliver), methods=["POST"])]


async def show(visit: Visit) -> Response:
    delivery = await _delivery(visit)
    try:
        endpoint = await visit.call(get_webhook_endpoint, id=delivery.endpoint_id)
    except NotFound:
        endpoint = None
    workspace = await workspace_of(visit)
    return visit.render("webhook_delivery.html", workspace=workspace, endpoint=endpoint, delivery=delivery)


async def redeliver(visit: Visit) -> Response:
    await visit.form()
    delivery = await _delivery(visit)
    path = visit.request.url.path.rpartition("/")[0]
    try:
        await visit.call(redeliver_webhook_delivery, id=delivery.id)
    except Invalid as invalid:
        return visit.redirect(path, f"{invalid.problems[0]['msg']}.")
    return visit.redirect(path, "The delivery will be sent again.")


async def _delivery(visit: Visit) -> WebhookDelivery:
    workspace = await workspace_of(visit)
    delivery: WebhookDelivery = await visit.call(get_webhook_delivery, id=visit.request.path_params["id"])
    if delivery.workspace_id != workspace.id:
        raise NotFound("There is no such webhook delivery.")
    return delivery
