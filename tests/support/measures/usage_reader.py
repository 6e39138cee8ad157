"""Reading what clients used, once it is written."""

from datetime import UTC, datetime
from typing import Any

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Reader:
    """An owner who reads what was used, once it is written."""

    def __init__(self, gateway: Any, surface: Any, tenant: Any) -> None:
        self.gateway, self.surface, self.tenant = gateway, surface, tenant

    async def rows(self, **filters: Any) -> list[dict[str, Any]]:
        await self.gateway.app.state.services.usage.write(self.gateway.database)
        page = await self.surface.list_usage(workspace_id=[self.tenant.id], limit=100, **filters)
        rows: list[dict[str, Any]] = page["data"]
        return rows

    async def used(self, **filters: Any) -> dict[str, int]:
        """The number of requests by name, without those that read the usage."""
        rows = await self.rows(**filters)
        return {row["name"]: row["requests"] for row in rows if "sage" not in row["name"]}

    async def send(self, document: str, token: str | None = None, **variables: Any) -> Any:
        body = {"query": document, "variables": variables}
        answer = await self.gateway.client.post("/graphql", json=body, headers=self._headers(token))
        return answer.json()

    async def call(self, method: str, path: str, token: str | None = None, **options: Any) -> Any:
        return await self.gateway.client.request(method, path, headers=self._headers(token), **options)

    def _headers(self, token: str | None) -> dict[str, str]:
        return {"Authorization": f"Bearer {token or self.tenant.token}"}
