"""A client of the GraphQL schema whose types sgqlc writes: calls build operations and read answers."""

import json
import os

from generated import Mutation, Query, ShareCreate
from sgqlc.endpoint.http import HTTPEndpoint  # type: ignore[import-untyped]
from sgqlc.operation import Operation  # type: ignore[import-untyped]
from sgqlc.types import Arg, Variable, non_null  # type: ignore[import-untyped]

endpoint = HTTPEndpoint(
    f"{os.environ['DUOGRAPH']}/graphql", {"Authorization": f"Bearer {os.environ['TOKEN']}"}
)
# By a variable: sgqlc would write the metadata as JSON into the document.
creating = Operation(Mutation, variables={"data": Arg(non_null(ShareCreate))})
created = creating.create_share(data=Variable("data"))
created.__fields__("id", "name")
created.prices.__fields__("amount_type", "price_amount")
prices = [{"amountType": "FIXED", "priceAmount": 1900}]
data = {"name": "Field guide", "prices": prices, "metadata": {"year": 2026}}
share = (creating + endpoint(creating, {"data": data})).create_share
amount: int = share.prices[0].price_amount

reading = Operation(Query)
reading.share(id=share.id).__fields__("id", "created_at", "metadata")
asked = reading.metrics(start_date="2026-01-01", end_date="2026-03-31", interval="MONTH", metrics=["COSTS"])
asked.series.__fields__("slug", "values", "total")
answer = reading + endpoint(reading)
assert answer.share.id == share.id
series = answer.metrics.series[0]

refused = endpoint(creating, {"data": {"name": "x", "prices": []}})["errors"]
print(
    json.dumps(
        {
            "amount": amount,
            "year": answer.share.metadata["year"],
            "costs": series.total,
            "periods": len(series.values),
            "refused": bool(refused[0]["message"]),
        }
    )
)
