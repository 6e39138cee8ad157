"""A client of the OpenAPI document that openapi-python-client writes: a module for each operation."""

import datetime
import json
import os

from generated.api.metrics import get_metrics
from generated.api.shares import create_share, get_share
from generated.client import AuthenticatedClient
from generated.models.fixed_price import FixedPrice
from generated.models.invalid_error import InvalidError
from generated.models.metrics import Metrics
from generated.models.new_fixed_price import NewFixedPrice
from generated.models.share import Share
from generated.models.share_create import ShareCreate

client = AuthenticatedClient(os.environ["DUOGRAPH"], os.environ["TOKEN"])
data = ShareCreate.from_dict(
    {
        "name": "Field guide",
        "prices": [NewFixedPrice(amount_type="fixed", price_amount=1900).to_dict()],
        "metadata": {"year": 2026},
    }
)
share = create_share.sync(client=client, body=data)
assert isinstance(share, Share), share
price = share.prices[0]
assert isinstance(price, FixedPrice), price
amount: int = price.price_amount

read = get_share.sync(share.id, client=client)
assert isinstance(read, Share), read
metrics = get_metrics.sync(
    client=client,
    start_date=datetime.date(2026, 1, 1),
    end_date=datetime.date(2026, 3, 31),
    interval="month",
    timezone="Europe/Berlin",
    metrics=["costs"],
)
assert isinstance(metrics, Metrics), metrics
refused = create_share.sync(client=client, body=ShareCreate(name="x", prices=[]))
assert isinstance(refused, InvalidError), refused
message: str = refused.detail[0].msg
print(
    json.dumps(
        {
            "amount": amount,
            "year": read.metadata["year"],
            "costs": metrics.totals.costs,
            "periods": len(metrics.periods),
            "refused": bool(message),
        }
    )
)
