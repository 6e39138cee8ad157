"""A client of the OpenAPI document that openapi-generator writes (python): a class for each tag."""

import datetime
import json
import os

from generated.api.metrics_api import MetricsApi
from generated.api.shares_api import SharesApi
from generated.api_client import ApiClient
from generated.configuration import Configuration
from generated.exceptions import UnprocessableEntityException
from generated.models.fixed_price import FixedPrice
from generated.models.interval import Interval
from generated.models.invalid_error import InvalidError
from generated.models.metadata_value import MetadataValue
from generated.models.metric_slug import MetricSlug
from generated.models.new_fixed_price import NewFixedPrice
from generated.models.new_price import NewPrice
from generated.models.share_create import ShareCreate

client = ApiClient(Configuration(host=os.environ["DUOGRAPH"], access_token=os.environ["TOKEN"]))
shares = SharesApi(client)
share = shares.create_share(
    ShareCreate(
        name="Field guide",
        prices=[NewPrice(NewFixedPrice(amount_type="fixed", price_amount=1900))],
        metadata={"year": MetadataValue(2026)},
    )
)
price = share.prices[0].actual_instance
assert isinstance(price, FixedPrice), price
amount: int = price.price_amount

read = shares.get_share(share.id)
metrics = MetricsApi(client).get_metrics(
    datetime.date(2026, 1, 1),
    datetime.date(2026, 3, 31),
    Interval.MONTH,
    timezone="Europe/Berlin",
    metrics=[MetricSlug.COSTS],
)
try:
    # An empty price: the client itself refuses a name that is too short.
    shares.create_share(ShareCreate(name="Nothing", prices=[NewPrice()]))
except UnprocessableEntityException as failure:
    refused = failure.data
else:
    refused = None
assert isinstance(refused, InvalidError), refused
message: str = refused.detail[0].msg
print(
    json.dumps(
        {
            "amount": amount,
            "year": read.metadata["year"].actual_instance,
            "costs": metrics.totals.costs,
            "periods": len(metrics.periods),
            "refused": bool(message),
        }
    )
)
