"""What an endpoint was told, compared with the change log."""

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import func, select, update
from standardwebhooks import Webhook

from storage.clock import now
from storage.engine.database import Database
from storage.enums import DeliveryStatus
from storage.rows.rows import table_of
from storage.tables.changes import ChangeRow
from storage.tables.webhooks.deliveries import WebhookDeliveryRow
from storage.tables.webhooks.endpoints import WebhookEndpointRow
from tests.faults.site import PATIENCE_SECONDS, Site
from tests.support.servers.receiver import Received

_changes, _deliveries = table_of(ChangeRow), table_of(WebhookDeliveryRow)
_endpoints = table_of(WebhookEndpointRow)


@dataclass(frozen=True)
class Change:
    """A line of the log."""

    id: str
    position: int
    kind: str
    resource_id: str | None


class Endpoint:
    """An endpoint of the writers' workspace, which is told everything from its creation on."""

    def __init__(self, site: Site, url: str) -> None:
        self._site, self.url = site, url
        self.id, self.secret = "", ""
        # It was created between these positions.
        self._earliest = self._latest = 0

    async def create(self) -> None:
        self._earliest = await self._last()
        made = await self._post("", {"url": self.url, "kinds": ["*"]})
        self.secret, self.id = made["secret"], made["webhook_endpoint"]["id"]
        self._latest = await self._last()

    async def _last(self) -> int:
        return max((each.position for each in await read_log(self._site)), default=0)

    async def redeliver(self) -> None:
        """Send now what waits for its next attempt, as after an outage."""
        since, until = (datetime.now(UTC) + timedelta(hours=hours) for hours in (-24, 24))
        span = {"since": since.isoformat(), "until": until.isoformat(), "status": ["pending", "failed"]}
        while (await self._post(f"{self.id}/redeliver", span))["has_more"]:
            pass

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self._site.tenant.token}"}
        async with httpx.AsyncClient(base_url=self._site.address, headers=headers, timeout=60) as client:
            answer = await client.post(f"/api/webhook-endpoints/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def state(self) -> Mapping[str, Any]:
        """Its row."""
        (row,) = await self._read(select(_endpoints).where(self._is_own))
        return dict(row._mapping)

    async def settled(self) -> None:
        """Wait until nothing is left to be told."""
        end = monotonic() + PATIENCE_SECONDS
        own = _deliveries.c.endpoint_id == UUID(self.id)
        pending = select(func.count()).where(own, _deliveries.c.status == DeliveryStatus.PENDING.value)
        while True:
            ((left,),) = await self._read(pending)
            changes = await read_log(self._site)
            if not left and (await self.state())["position"] >= changes[-1].position > 0:
                return
            assert monotonic() < end, f"{left} deliveries are left"
            await asyncio.sleep(0.2)

    async def end_leases(self) -> None:
        """Let what a killed process had claimed be claimed at once instead of after a minute."""
        database = Database(self._site.database_url)
        try:
            async with database.write() as connection:
                pending = _deliveries.c.status == DeliveryStatus.PENDING.value
                own = (_deliveries.c.workspace_id == UUID(self._site.tenant.id)) & pending
                await connection.execute(update(_deliveries).where(own).values(due_at=now()))
        finally:
            await database.close()

    async def problems(self, received: list[Received]) -> list[str]:
        """What is wrong with what its receiver got, beside the log."""
        told = {each.id: each for each in await read_log(self._site) if each.position > self._earliest}
        got = {each.id for each in received}
        lost = sum(id not in got and each.position > self._latest for id, each in told.items())
        invented = sum(not _is_of(each, told, self.secret) for each in received)
        places: dict[str, list[int]] = defaultdict(list)
        for each in received:
            if (change := told.get(each.id)) is not None and change.resource_id is not None:
                places[change.resource_id].append(change.position)
        disordered = sum(positions != sorted(positions) for positions in places.values())
        counts = {"not told": lost, "told but not so": invented, "out of order": disordered}
        return [f"{self.url}: {many} changes {what}" for what, many in counts.items() if many]

    async def _read(self, statement: Any) -> Any:
        return await _rows(self._site, statement)

    @property
    def _is_own(self) -> Any:
        own = _endpoints.c.workspace_id == UUID(self._site.tenant.id)
        return own & (_endpoints.c.id == UUID(self.id))


def _is_of(received: Received, told: Mapping[str, Change], secret: str) -> bool:
    """Whether a change has this id, and is what was told and signed."""
    change = told.get(received.id)
    content = received.content
    data = content["data"] or {}
    # Not `verify`, which refuses what was signed by a clock that was ahead.
    at = datetime.fromtimestamp(int(received.headers["webhook-timestamp"]), UTC)
    if Webhook(secret).sign(received.id, at, received.body.decode()) != received.headers["webhook-signature"]:
        return False
    same = change is not None and content["type"] == change.kind
    return same and data.get("id") in (None, change and change.resource_id)


async def read_log(site: Site) -> list[Change]:
    """The log of the writers' workspace, in order; what has no position yet is left out."""
    columns = (_changes.c.id, _changes.c.position, _changes.c.kind, _changes.c.resource_id)
    own = _changes.c.workspace_id == UUID(site.tenant.id)
    rows = select(*columns).where(own, _changes.c.position.is_not(None)).order_by(_changes.c.position)
    return [
        Change(str(id), position, kind, None if resource_id is None else str(resource_id))
        for id, position, kind, resource_id in await _rows(site, rows)
    ]


async def _rows(site: Site, statement: Any) -> Any:
    database = Database(site.database_url)
    try:
        async with database.read() as connection:
            return (await connection.execute(statement)).all()
    finally:
        await database.close()
