"""Settings of webhooks."""

from ipaddress import ip_network
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field

from gateway.settings.values.types import Network


def _parse(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())
    except ValueError as error:
        raise ValueError(
            "give networks without host bits, separated by commas, such as 10.0.0.0/8"
        ) from error


class WebhookSettings(BaseModel):
    """Webhooks"""

    webhook_allow: Annotated[
        tuple[Network, ...],
        BeforeValidator(_parse),
        Field(
            description="Networks, separated by commas, to which webhooks may be sent although their "
            "addresses are not public, such as `127.0.0.0/8` on the machine of a developer."
        ),
    ] = ()
