"""An OAuth client that sends documents, and the owner who looks after its allow-list."""

import json
from hashlib import sha256
from typing import Any
from uuid import UUID

from tests.support.servers.gateways import Tenant
from tests.support.tenants.applications import make_application

NAMES = "query Names($limit: Int) { shares(limit: $limit) { data { name } } }"
OTHER = 'query Secret { found: shares(query: "what the user typed") { data { label: name } } }'
JSON, RESPONSE_JSON = "application/json", "application/graphql-response+json"


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Sender:
    """An OAuth client that a user of the tenant has connected, and its documents over one surface."""

    def __init__(self, gateway: Any, surface: Any, application: Any, token: str) -> None:
        self.gateway, self.surface, self.token = gateway, surface, token
        self.id = str(application.id)

    async def mode(self, mode: str) -> None:
        changed = await self.surface.update_oauth_client(id=self.id, data={"document_mode": mode})
        assert changed["document_mode"] == mode

    async def register(self, *texts: str, **values: Any) -> list[Any]:
        documents = [{"text": text, **values} for text in texts]
        made = await self.surface.register_oauth_client_documents(id=self.id, data={"documents": documents})
        return made["data"]

    async def listed(self, **filters: Any) -> list[Any]:
        """Its documents, once what was counted is written."""
        await self.gateway.app.state.services.document_counts.write(self.gateway.database)
        answer = await self.surface.list_oauth_client_documents(oauth_client_id=[self.id], **filters)
        return answer["data"]

    async def send(self, text: str | None = NAMES, *, accept: str = JSON, hash: str | None = None) -> Any:
        body: dict[str, Any] = {} if text is None else {"query": text}
        if hash is not None:
            body["extensions"] = {"persistedQuery": {"version": 1, "sha256Hash": hash}}
        headers = {"Authorization": f"Bearer {self.token}", "Accept": accept}
        return await self.gateway.client.post("/graphql", json=body, headers=headers)

    async def get(self, text: str | None = None, *, accept: str = JSON, hash: str | None = None) -> Any:
        params = {} if text is None else {"query": text}
        if hash is not None:
            params["extensions"] = json.dumps({"persistedQuery": {"version": 1, "sha256Hash": hash}})
        headers = {"Authorization": f"Bearer {self.token}", "Accept": accept}
        return await self.gateway.client.get("/graphql", params=params, headers=headers)


async def make_sender(gateway: Any, surface: Any, tenant: Tenant) -> Sender:
    application = await make_application(gateway, UUID(tenant.id), UUID(tenant.user_id))
    tokens = await application.tokens(tenant, scope="shares:read")
    return Sender(gateway, surface, application, tokens["access_token"])
