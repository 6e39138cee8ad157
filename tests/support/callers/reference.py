"""A reader of the REST reference, who runs its examples on the demo workspace, with ids of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gateway.cli.demo.demo import make_demo
from gateway.cli.demo.writer import write_activity
from gateway.cli.kit.as_user import in_place_of_workspace
from gateway.settings.settings import Settings
from oauth.principals import PrincipalKind
from rest_compat.api import documented_routes
from rest_compat.openapi.document import openapi_document
from rest_compat.openapi.examples import BODIES, PLACEHOLDER
from rest_compat.routing.paths import PREFIX
from rest_compat.routing.router import OperationRoute
from tests.support.servers.gateways import SECRET, Gateway, run_gateway

PATHS = openapi_document()["paths"]
WORKSPACES = f"{PREFIX}/workspaces/"
SESSIONS, PAYMENTS = f"{PREFIX}/file-share-sessions/", f"{PREFIX}/file-share-payments/"
# What no document can print, by the name of the operation.
NEEDS_MORE = {
    "authenticate_portal_code": "a code from an email",
    "complete_file_upload": "uploaded parts",
    "get_file_download": "uploaded parts",
    "get_workspace_invitation": "an invitation of another workspace",
    "accept_workspace_invitation": "an invitation of another workspace",
    "decline_workspace_invitation": "an invitation of another workspace",
    "get_authorized_application": "an application that the user has allowed something",
    "revoke_authorized_application": "an application that the user has allowed something",
    "get_webhook_delivery": "a change that an endpoint was told",
    "redeliver_webhook_delivery": "a change that an endpoint was told",
    "get_browser_session": "a browser in which the user is signed in",
    "get_portal_file_share_session": "a sale to the customer",
    "download_portal_file": "a sale to the customer",
    "delete_browser_session": "a browser in which the user is signed in",
}
# With a second workspace, a user has to name one; the portal ends with its session,
# everything with the workspace.
LAST = ("create_workspace", "end_portal_session", "delete_workspace")
IN_ORDER = ("GET", "POST", "PATCH", "DELETE")


def routes() -> list[OperationRoute]:
    """Reads first and deletions last, of members before their customers."""
    every = [
        route
        for route in documented_routes()
        if route.operation.name not in NEEDS_MORE and route.operation.kinds != {PrincipalKind.BROWSER_SESSION}
    ]
    every.sort(key=lambda route: route.path, reverse=True)
    every.sort(key=lambda route: IN_ORDER.index(route.method))
    every.sort(key=lambda route: LAST.index(name) if (name := route.operation.name) in LAST else -1)
    return every


@dataclass
class Reader:
    """A reader who tries the operations of the reference out, in order, with the tokens of the demo.

    `answers` are the first of each operation, by its id.
    """

    gateway: Gateway
    tokens: dict[PrincipalKind | None, str]
    made: dict[str, str] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)

    async def try_all(self) -> list[str]:
        """What of the documented examples fails."""
        failures = []
        for route in routes():
            try:
                path = await self.path_of(route)
                created = route.operation_id in self.answers and route.method == "POST"
                if not created:
                    await self.attempt(route, path)
            except (AssertionError, LookupError) as failure:
                failures.append(f"{route.operation_id}: {failure!r}")
        return failures

    async def attempt(self, route: OperationRoute, path: str) -> Any:
        """The answer to the documented example. Fails unless it is a success."""
        entry = PATHS[route.path_format][route.method.lower()]
        query = {
            parameter["name"]: parameter["example"]
            for parameter in entry["parameters"]
            if parameter["in"] == "query" and parameter.get("example")
        }
        body = entry.get("requestBody", {}).get("content", {}).get("application/json", {}).get("example")
        if body and PLACEHOLDER in body.values():
            team = await self.team()
            body = {key: team if value == PLACEHOLDER else value for key, value in body.items()}
        token = next(token for kind, token in self.tokens.items() if route.operation.is_open_to(kind))
        answer = await self.gateway.client.request(
            route.method, path, params=query, json=body, headers={"Authorization": f"Bearer {token}"}
        )
        if not answer.is_success:
            raise AssertionError(f"{route.method} {path}: {answer.text}")
        is_json = answer.headers.get("content-type") == "application/json"
        content = answer.json() if is_json else answer.text
        self.answers.setdefault(route.operation_id, content)
        return content if is_json else None

    async def path_of(self, route: OperationRoute) -> str:
        entry = PATHS[route.path_format][route.method.lower()]
        path = route.path_format
        for parameter in entry["parameters"]:
            if parameter["in"] == "path":
                id = parameter.get("example") or await self.id_below(path.partition("{")[0])
                path = path.replace(f"{{{parameter['name']}}}", id)
        return path

    async def id_below(self, collection: str) -> str:
        """The id of what the collection's own example makes, or of its first item."""
        if collection == PAYMENTS:
            return str((await self._create(f"{SESSIONS}{{id}}/payments"))["id"])
        if collection not in self.made or collection == SESSIONS:
            creation = PATHS.get(collection, {}).get("post", {})
            if collection != WORKSPACES and creation.get("operationId") in BODIES:
                answer = await self._create(collection)
                inner = next(
                    (item for item in answer.values() if isinstance(item, dict) and "id" in item), {}
                )
                self.made[collection] = str(answer.get("id") or inner["id"])
            else:
                self.made[collection] = await self.first(collection)
        return self.made[collection]

    async def team(self) -> str:
        headers = {"Authorization": f"Bearer {self.tokens[PrincipalKind.WORKSPACE_TOKEN]}"}
        answer = await self.gateway.client.get(f"{PREFIX}/customers/external/studio-7", headers=headers)
        return str(answer.json()["id"])

    async def first(self, collection: str) -> str:
        headers = {"Authorization": f"Bearer {self.tokens[PrincipalKind.WORKSPACE_TOKEN]}"}
        if "customer-portal" in collection:
            headers = {"Authorization": f"Bearer {self.tokens[PrincipalKind.CUSTOMER_SESSION]}"}
        listed = (await self.gateway.client.get(collection, headers=headers)).json()
        return str(listed["data"][0]["id"])

    async def _create(self, path: str) -> Any:
        route = next(each for each in documented_routes() if (each.path, each.method) == (path, "POST"))
        return await self.attempt(route, await self.path_of(route))


@asynccontextmanager
async def reading(folder: Path) -> AsyncIterator[Reader]:
    """A reader of the reference on the demo workspace, and in the portal of its team."""
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    async for gateway in run_gateway(url, folder / "objects"):
        settings = Settings(database_url=url, secret_key=SECRET, object_store=str(folder / "objects"))
        made = await make_demo(settings, gateway.database)
        ctx = in_place_of_workspace(made.workspace.id, settings, gateway.database)
        await write_activity(ctx, made.workspace.id, 200, 30)
        answer = await gateway.client.post(
            f"{PREFIX}/customer-sessions/",
            json={"external_customer_id": "studio-7"},
            headers={"Authorization": f"Bearer {made.workspace_token}"},
        )
        tokens = {
            PrincipalKind.WORKSPACE_TOKEN: made.workspace_token,
            PrincipalKind.PERSONAL_TOKEN: made.personal_token,
            PrincipalKind.CUSTOMER_SESSION: answer.json()["token"],
        }
        yield Reader(gateway, {**tokens, None: made.workspace_token})
