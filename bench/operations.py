"""Every operation that reads, over both surfaces with demo data, the dearest first.

Run by `make bench`. It has no targets: it shows which reads are dear, and which run statements that are not
kept. Operations without demo data to read are named at the end.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from statistics import median
from typing import Any, NamedTuple
from urllib.parse import urlencode

import httpx
from rich.console import Console
from sqlalchemy import event

from bench.kit import servers
from bench.kit.client import Client, Refused
from bench.kit.options import options
from bench.kit.processes import processor_seconds
from bench.kit.report import number, table
from bench.kit.requests import graphql, models_in, selection
from bench.kit.servers import Server, Site
from bench.kit.wrk import Request
from gateway.app import create_app
from gateway.settings.settings import Settings
from resolvers.graph.root import exposed, make_schema
from resolvers.operations.declaration import Operation
from rest_compat.api import operation_routes
from storage.engine.database import Database

CALLS = 20
# Tokens are marked as used, and documents planned, before the call whose statements are counted.
CALLS_BEFORE_COUNTING = 2
# What operations require besides an id.
ARGUMENTS = {"start_date": "2026-09-01", "end_date": "2026-09-30", "interval": "day"}
IN_GRAPHQL = 'startDate: "2026-09-01", endDate: "2026-09-30", interval: DAY'

progress = Console(stderr=True, highlight=False)


class Cost(NamedTuple):
    """Microseconds of processor time for one call, and its statements."""

    name: str
    surface: str
    server: float
    database: float
    kept: int
    built: int


class Reader:
    """Calls a gateway with the first of the demo's tokens that an operation accepts."""

    def __init__(self, site: Site, server: Server, tokens: Sequence[str]) -> None:
        self._pids = site.processes(server)
        self._clients = [Client(server.address, token) for token in tokens]
        # Statements are counted in a gateway of this process, without sockets and background tasks.
        self._counted, self._runner = create_app(Settings(**site.settings)), asyncio.Runner()
        self._kept: list[object] = []
        self._built: list[object] = []
        self._database: Database = self._counted.state.services.database
        self._database.listeners.append(self._kept.append)
        engine = self._database.engine.sync_engine
        event.listen(engine, "before_cursor_execute", lambda *call: self._built.append(call))

    def accepted(self, request: Request) -> tuple[Client, Any] | None:
        """The first client that is not refused, and its answer."""
        for client in self._clients:
            with suppress(Refused):
                return client, client.send(request)
        return None

    def cost(self, name: str, surface: str, request: Request, rounds: int) -> Cost | None:
        """None if every client is refused."""
        first = self.accepted(request)
        if first is None:
            return None
        client, _ = first
        times = [self._round(client, request) for _ in range(rounds)]
        server, database = map(median, zip(*times, strict=True))
        kept, built = self._runner.run(self._statements(request, client.token))
        return Cost(name, surface, server, database, kept, built)

    def close(self) -> None:
        with self._runner:
            self._runner.run(self._database.close())

    def _round(self, client: Client, request: Request) -> tuple[float, float]:
        before = [processor_seconds(pid) for pid in self._pids]
        for _ in range(CALLS):
            client.send(request)
        used = [processor_seconds(pid) - start for pid, start in zip(self._pids, before, strict=True)]
        return used[0] * 1e6 / CALLS, sum(used[1:]) * 1e6 / CALLS

    async def _statements(self, request: Request, token: str) -> tuple[int, int]:
        """How many kept statements the request takes, and how many SQLAlchemy builds for it."""
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        transport = httpx.ASGITransport(self._counted)
        async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
            for _ in range(CALLS_BEFORE_COUNTING + 1):
                self._kept.clear()
                self._built.clear()
                sent = client.request(request.method, request.path, content=request.body, headers=headers)
                (await sent).raise_for_status()
        return len(self._kept), len(self._built)


def requests_of(reader: Reader) -> Iterator[tuple[str, str, Request | None]]:
    """Name, surface and request of every operation that reads; no request if there is nothing to read."""
    places = exposed(make_schema()._schema)
    for name, route in operation_routes().items():
        if route.method != "GET":
            continue
        path, id = route.path, None
        if "{id}" in path:
            page = reader.accepted(Request("GET", path.split("{")[0]))
            items = page[1]["data"] if page else []
            if not items:
                yield name, "both", None
                continue
            id = items[0]["id"]
            path = path.replace("{id}", id)
        dated = any(each in ARGUMENTS for each in argument_names(route.operation))
        yield name, "REST", Request("GET", f"{path}?{urlencode(ARGUMENTS)}" if dated else path)
        if name in places:
            given = IN_GRAPHQL if dated else f'id: "{id}"' if id else ""
            yield name, "GraphQL", graphql(document(places[name].path, given, route.operation))


def argument_names(operation: Operation) -> set[str]:
    names = {parameter.name for parameter in operation.parameters}
    return names | set(operation.filters.model_fields if operation.filters else ())


def document(path: Sequence[str], arguments: str, operation: Operation) -> str:
    """The document that selects all that REST answers."""
    model = next(models_in(operation.answer), None)
    field = " { ".join(path) + (f"({arguments})" if arguments else "")
    return f"{{ {field} {selection(model) if model else ''}{' }' * len(path)}"


def tokens_of(server: Server, seeded: dict[str, Any]) -> list[str]:
    """The tokens of the workspace, of its user and of a customer; and one file, which the demo lacks."""
    token = seeded["workspace_token"]
    client = Client(server.address, token)
    customers = client.get("/api/customers/?limit=1")["data"]
    session = client.post("/api/customer-sessions/", {"customer_id": customers[0]["id"]})
    part = {"number": 1, "chunk_start": 0, "chunk_end": 9}
    file = {"service": "downloadable", "name": "tides.txt", "mime_type": "text/plain", "size": 9}
    client.post("/api/files/", {**file, "upload": {"parts": [part]}})
    return [token, seeded["personal_token"], session["token"]]


def costs_table(costs: Sequence[Cost]) -> str:
    header = ["operation", "surface", "server, us", "database, us", "kept statements", "built statements"]
    rows = []
    for each in sorted(costs, key=lambda each: -each.server - each.database):
        figures = [number(each.server), number(each.database), str(each.kept), str(each.built)]
        rows.append([f"`{each.name}`", each.surface, *figures])
    return table(header, rows)


def main() -> None:
    rounds = options(__doc__, rounds=3).rounds
    costs, missing = [], []
    with servers.site() as site:
        seeded = servers.seed(site)
        servers.vacuum(site)
        with (
            servers.gateway(site) as server,
            closing(Reader(site, server, tokens_of(server, seeded))) as reader,
        ):
            for name, surface, request in requests_of(reader):
                cost = reader.cost(name, surface, request, rounds) if request else None
                if cost is None:
                    missing.append(f"`{name}` ({surface})")
                else:
                    costs.append(cost)
                    progress.print(f"{name}, {surface}: {cost.server:.0f} us")
    print("Reads with statements that SQLAlchemy builds for each request:\n")
    print(costs_table([each for each in costs if each.built]))
    print("\nReads that kept statements serve:\n")
    print(costs_table([each for each in costs if not each.built]))
    if missing:
        print(f"\nNot measured, because the demo has nothing to read: {', '.join(missing)}.")


if __name__ == "__main__":
    main()
