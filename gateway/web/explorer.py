"""The GraphQL explorer, with examples that succeed for the signed-in user as they are printed."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import select
from starlette.requests import Request
from starlette.responses import Response

from gateway.web.kit.assets import asset_url
from gateway.web.kit.html import content_security_policy, html_page
from gateway.web.kit.visits import NEVER_KEEP, Visit, admitted_visit
from resolvers.operations.rows.access import visible
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.workspaces.workspaces import WorkspaceRow

EXAMPLE_FOLDER = Path(__file__).parent / "examples"
WORKERS = ("editor", "graphql", "json")
DAYS = 30

# Monaco writes style attributes and <style> elements; its icons are a font in the style sheet.
EXPLORER_POLICY = content_security_policy(style_src="'self' 'unsafe-inline'", font_src="data:")

_customers, _workspaces = table_of(CustomerRow), table_of(WorkspaceRow)


@dataclass(frozen=True)
class Example:
    """An operation in a tab of the explorer; `variables` is JSON text or empty."""

    query: str
    variables: str


@dataclass(frozen=True)
class Known:
    """What examples are filled in with: ids that the user can see, and the date in UTC."""

    workspace_id: UUID | None
    customer_id: UUID | None
    today: date

    def created_in(self, **data: Any) -> Mapping[str, Any]:
        """The variables of an example that creates a resource with these fields."""
        return {"data": data | ({} if self.workspace_id is None else {"workspaceId": str(self.workspace_id)})}


Variables = Callable[[Known], Mapping[str, Any]]
_VARIABLES: dict[str, Variables] = {
    "metrics": lambda known: {
        "from": str(known.today - timedelta(days=DAYS - 1)),
        "to": str(known.today),
    },
    "portal": lambda known: {"data": {"customerId": str(known.customer_id)}},
    "create_customer": lambda known: known.created_in(email="reader@example.com", name="First Reader"),
    "create_share": lambda known: known.created_in(
        name="Sample pack",
        description="Forty drum loops",
        prices=[{"amountType": "FIXED", "priceAmount": 1500, "priceCurrency": "USD"}],
    ),
}


def examples(known: Known) -> list[Example]:
    """The examples in the order of their tabs; without a customer, one that creates a customer."""
    customer = "create_customer" if known.customer_id is None else "portal"
    return [
        _example(name, known) for name in ("shares", "metrics", "sales", customer, "create_share", "viewer")
    ]


def _example(name: str, known: Known) -> Example:
    variables = _VARIABLES.get(name)
    return Example(
        query=(EXAMPLE_FOLDER / f"{name}.graphql").read_text("utf-8"),
        variables="" if variables is None else json.dumps(variables(known), indent=2),
    )


async def explorer_page(request: Request) -> Response:
    """The explorer, which posts to its own path, for a request that was admitted. Raises `RateLimited`."""
    visit = await admitted_visit(request)
    shown = [asdict(example) for example in examples(await _known(visit))]
    response = html_page(
        "explorer.html",
        policy=EXPLORER_POLICY,
        visit=visit,
        examples=json.dumps(shown),
        workers=json.dumps({name: asset_url(f"vendor/explorer/{name}.worker.js") for name in WORKERS}),
    )
    response.headers["Cache-Control"] = NEVER_KEEP
    return response


async def _known(visit: Visit) -> Known:
    """The newest customer that the user sees, with its workspace; or else any workspace of the user."""
    today = datetime.now(UTC).date()
    if visit.user is None:
        return Known(None, None, today)
    principal = visit.ctx.principal
    newest = (
        select(_customers.c.workspace_id, _customers.c.id)
        .where(visible(CustomerRow, principal))
        .order_by(_customers.c.created_at.desc())
        .limit(1)
    )
    async with visit.ctx.read() as connection:
        customer = (await connection.execute(newest)).first()
        if customer is not None:
            return Known(customer.workspace_id, customer.id, today)
        own = select(_workspaces.c.id).where(visible(WorkspaceRow, principal)).limit(1)
        workspace = (await connection.execute(own)).first()
        return Known(None if workspace is None else workspace.id, None, today)
