"""A client of the GraphQL schema that ariadne-codegen writes: a method for each operation of a file."""

import json
import os
from datetime import datetime

from generated.client import Client
from generated.enums import PriceAmountType
from generated.exceptions import GraphQLClientGraphQLMultiError
from generated.input_types import PriceInput, ShareCreate

client = Client(
    f"{os.environ['DUOGRAPH']}/graphql", headers={"Authorization": f"Bearer {os.environ['TOKEN']}"}
)
prices = [PriceInput(amountType=PriceAmountType.FIXED, priceAmount=1900)]
share = client.create_share(
    ShareCreate(name="Field guide", prices=prices, metadata={"year": 2026})
).create_share
assert share is not None
amount: int | None = share.prices[0].price_amount

answer = client.read_share(id=share.id, start="2026-01-01", end="2026-03-31")
assert answer.share is not None
assert answer.metrics is not None
created_at: datetime = answer.share.created_at
series = answer.metrics.series[0]
values: list[float] = series.values
total: float = series.total
try:
    client.create_share(ShareCreate(name="x", prices=[]))
except GraphQLClientGraphQLMultiError as error:
    refused = bool(error.errors[0].message)
else:
    refused = False
print(
    json.dumps(
        {
            "amount": amount,
            "year": answer.share.metadata["year"],
            "costs": total,
            "periods": len(values),
            "refused": refused and created_at.year > 2000,
        }
    )
)
