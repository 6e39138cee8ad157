"""How to make one change of a kind by calls of the API: a function for each kind that can be made so."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Protocol
from uuid import uuid4

NAME = "Made by duograph webhooks trigger"


class Calls(Protocol):
    """The API of one workspace."""

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> Any:
        """The JSON of the answer."""

    def make(self, path: str, body: Mapping[str, Any]) -> Any:
        """The same for what is created in the workspace."""


def _share(api: Calls) -> str:
    made = api.make("/shares/", {"name": NAME, "prices": [{"amount_type": "free"}]})
    return f"/shares/{made['id']}"


def _customer(api: Calls) -> str:
    made = api.make("/customers/", {"email": f"{uuid4().hex}@example.com", "name": NAME})
    return f"/customers/{made['id']}"


def _custom_field(api: Calls) -> str:
    made = api.make("/custom-fields/", {"type": "text", "slug": uuid4().hex, "name": NAME})
    return f"/custom-fields/{made['id']}"


def _session(api: Calls) -> str:
    return f"/file-share-sessions/{api.make('/file-share-sessions/', {'file_size_bytes': 1})['id']}"


def _paid(api: Calls) -> Any:
    return api.ask("POST", f"{_session(api)}/payments", {"amount": 100, "currency": "usd"})


def _unarchive(api: Calls) -> Any:
    share = _share(api)
    api.ask("PATCH", share, {"is_archived": True})
    return api.ask("PATCH", share, {"is_archived": False})


def _histories() -> dict[str, Any]:
    begun = datetime.now(UTC).isoformat()
    return {"sessions": [{"external_id": uuid4().hex, "created_at": begun, "file_size_bytes": 1}]}


TRIGGERS: Mapping[str, Callable[[Calls], Any]] = {
    "share.created": _share,
    "share.updated": lambda api: api.ask("PATCH", _share(api), {"description": NAME}),
    "share.archived": lambda api: api.ask("PATCH", _share(api), {"is_archived": True}),
    "share.unarchived": _unarchive,
    "customer.created": _customer,
    "customer.updated": lambda api: api.ask("PATCH", _customer(api), {"name": f"{NAME}, again"}),
    "customer.deleted": lambda api: api.ask("DELETE", _customer(api)),
    "custom_field.created": _custom_field,
    "custom_field.updated": lambda api: api.ask("PATCH", _custom_field(api), {"name": f"{NAME}, again"}),
    "custom_field.deleted": lambda api: api.ask("DELETE", _custom_field(api)),
    "file_share_session.created": _session,
    "file_share_session.downloaded": lambda api: api.ask("POST", f"{_session(api)}/downloads", {}),
    "file_share_session.paid": _paid,
    "file_share_session.refunded": lambda api: api.ask(
        "POST", f"/file-share-payments/{_paid(api)['id']}/refund", {}
    ),
    "file_share_session.completed": lambda api: api.ask("POST", f"{_session(api)}/complete", {}),
    "file_share_session.expired": lambda api: api.ask("POST", f"{_session(api)}/expire", {}),
    "file_share_sessions.ingested": lambda api: api.make("/file-share-sessions/ingest", _histories()),
    "events.ingested": lambda api: api.make("/events/ingest", {"events": [{"name": "duograph.trigger"}]}),
}
