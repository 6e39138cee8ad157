"""What a typed amount is understood as, which forms show beside their field before they are sent."""

from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.web.kit.amounts import AmountRefused, read_amount
from gateway.web.kit.visits import Visit, page
from gateway.web.kit.workspaces import workspace_of
from schema.values.prose import write_amount
from storage.enums import Currency


async def understood(visit: Visit) -> Response:
    """`{"text": "$12.50"}`, or `{"problem": "..."}` for a text that a form would refuse.

    Without a currency that amounts can have, the workspace's own counts.
    """
    workspace = await workspace_of(visit)
    query = visit.request.query_params
    known = {each.value for each in Currency}
    sent = query.get("currency", "")
    currency = sent if sent in known else workspace.default_presentment_currency.value
    try:
        amount = read_amount(query.get("text", ""), currency)
    except AmountRefused as refused:
        return JSONResponse({"problem": str(refused)})
    return JSONResponse({"text": write_amount(amount, currency)})


def amount_routes() -> list[Route]:
    return [Route("/{slug}/amounts", page(understood))]
