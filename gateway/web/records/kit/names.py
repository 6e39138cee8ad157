"""The names of what records refer to, read in as few calls as there are kinds."""

from collections.abc import Sequence
from typing import Any

from gateway.web.kit.visits import Visit
from resolvers.customers.customers import list_customers
from resolvers.shares.shares import list_shares
from schema.kit.pages import MOST_PER_PAGE


async def names_in(visit: Visit, records: Sequence[Any]) -> dict[str, str]:
    """Names by id of the shares and customers that the records refer to, without deleted ones."""
    names: dict[str, str] = {}
    if ids := _ids(records, "share_id"):
        listing = await visit.call(list_shares, filters={"id": ids, "limit": MOST_PER_PAGE})
        names |= {str(share.id): share.name for share in listing.data}
    if ids := _ids(records, "customer_id"):
        listing = await visit.call(list_customers, filters={"id": ids, "limit": MOST_PER_PAGE})
        names |= {str(customer.id): customer.name or customer.email for customer in listing.data}
    return names


def _ids(records: Sequence[Any], name: str) -> list[str]:
    distinct = {str(id) for record in records if (id := getattr(record, name, None)) is not None}
    return sorted(distinct)[:MOST_PER_PAGE]
