"""A list of 10 shares over GraphQL, compared with other servers of the same tables: `python -m bench.peers`.

The peers are stock Strawberry over SQLModel entities, which answers the same document and looks the token
up, and PostGraphile 5, which answers the same fields without a token. It is installed by npm, with the Node
that it needs. Exits with 1 if a target is missed.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from bench.kit import servers
from bench.kit.client import Client
from bench.kit.measuring import Side, Slices, measure, ratio, typical
from bench.kit.options import options
from bench.kit.report import Check, number, table
from bench.kit.requests import document_of_shares, graphql
from bench.kit.servers import Server, Site
from bench.kit.wrk import Request, require_wrk

# How many times the gateway's processor time the peers need at least.
TARGETS = {"stock Strawberry": 8, "PostGraphile": 1}
INSTALLED = Path("var/bench/postgraphile").resolve()
_SOURCES = Path(__file__).parent / "postgraphile"

progress = Console(stderr=True)


def install_postgraphile() -> bool:
    """Whether PostGraphile and its Node could be installed."""
    if shutil.which("npm") is None:
        return False
    shutil.copytree(_SOURCES, INSTALLED, dirs_exist_ok=True)
    command = ["npm", "install", "--no-audit", "--no-fund", "--silent"]
    return subprocess.run(command, cwd=INSTALLED, stdout=sys.stderr, check=False).returncode == 0


@contextmanager
def postgraphile(site: Site) -> Iterator[Server]:
    assert site.postgresql is not None
    port, programs = servers.free_port(), INSTALLED / "node_modules" / ".bin"
    environment = {
        **os.environ,
        "DATABASE": site.postgresql.address,
        "PORT": str(port),
        "GRAPHILE_ENV": "production",
        "NODE_ENV": "production",
    }
    command = [str(programs / "node"), str(programs / "postgraphile")]
    with servers.running(command, environment, INSTALLED) as process:
        address = f"http://127.0.0.1:{port}"
        servers.wait_for(f"{address}/graphql", b'{"query": "{ __typename }"}')
        yield Server(address, process.pid)


def peer_request(site: Site, ours: Server) -> Request:
    """The list as PostGraphile's own naming asks for it."""
    share = Client(ours.address, site.token).get("/api/shares/?limit=1")["data"][0]
    document = (_SOURCES / "shares.graphql").read_text().replace("WORKSPACE", share["workspace_id"])
    return graphql(" ".join(document.split()))


def check_same(site: Site, ours: Side, peer: Side) -> None:
    """Exit unless the peer answers the same shares in the same order."""
    expected, other = (
        Client(side.server.address, site.token).send(side.request)["data"] for side in (ours, peer)
    )
    (page,) = other.values()
    names = [share["name"] for share in page.get("nodes") or page["data"]]
    if names != [share["name"] for share in expected["shares"]["data"]]:
        raise SystemExit(f"A peer answers other shares: {names}")


def compare(site: Site, rounds: int, seconds: float) -> dict[str, Slices]:
    """What the gateway, the first, and its peers took."""
    assert site.postgresql is not None
    request = graphql(document_of_shares())
    with ExitStack() as stack:
        ours = Side(stack.enter_context(servers.gateway(site)), request, site.token)
        stock = servers.uvicorn("bench.peers.stock_strawberry:app", site.database_url, "/docs")
        sides = {
            "the gateway": ours,
            "stock Strawberry": Side(stack.enter_context(stock), request, site.token),
        }
        if install_postgraphile():
            server = stack.enter_context(postgraphile(site))
            sides["PostGraphile"] = Side(server, peer_request(site, ours.server), site.token)
        for side in sides.values():
            check_same(site, ours, side)
        servers.vacuum(site)
        progress.print(", ".join(sides))
        measured = measure([*sides.values()], [site.postgresql.pid], rounds, seconds)
        return dict(zip(sides, measured, strict=True))


def main() -> None:
    arguments = options(__doc__, rounds=5, seconds=2.0)
    require_wrk()
    with servers.site() as site:
        measured = compare(site, arguments.rounds, arguments.seconds)
    own = measured["the gateway"]
    checks = {
        name: Check(name, "peer / ours", [ratio(each, own)], least=TARGETS[name])
        for name, each in measured.items()
        if each is not own
    }
    rows = []
    for name, each in measured.items():
        middle, judged = typical(each), checks[name].cells if name in checks else ["", "", ""]
        rows.append([name, middle.times, *judged, *map(number, (middle.rate, middle.p50, middle.p99))])
    header = ["GraphQL: list of 10 shares", "server + database, us", "/ ours", "target", ""]
    print(table([*header, "req/s", "p50, ms", "p99, ms"], rows))
    if "PostGraphile" not in checks:
        print("\nPostGraphile was left out: npm could not install it and Node 22.")
    sys.exit(any(not check.is_met for check in checks.values()))


if __name__ == "__main__":
    main()
