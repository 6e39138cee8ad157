"""A list of 10 shares over GraphQL, compared with other servers of the same tables: `python -m bench.peers`.

The peers are stock Strawberry over SQLModel entities, which answers the same document and looks the token
up, and PostGraphile 5, which answers the same fields without a token. It is installed by npm, with the Node
that it needs. Exits with 1 if a target is missed.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.console import Console

from bench import servers
from bench.client import Client
from bench.measuring import Figures, Side, measure, ratio
from bench.report import Check, number, table
from bench.requests import document_of_shares, graphql
from bench.servers import Server, Site
from bench.wrk import Request, require_wrk

# How many times the gateway's processor time the peers need at least.
TARGETS = {"stock Strawberry": 8, "PostGraphile": 1}
INSTALLED = Path("var/bench/postgraphile").resolve()
_SOURCES = Path(__file__).parent / "postgraphile"

progress = Console(stderr=True)


@contextmanager
def stock_strawberry(site: Site) -> Iterator[Server]:
    with servers.uvicorn("bench.peers.stock_strawberry:app", {"DATABASE": site.database_url}) as server:
        servers.wait_for(f"{server.address}/docs")
        yield server


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
    with servers.running(command, environment, INSTALLED) as pid:
        address = f"http://127.0.0.1:{port}"
        servers.wait_for(f"{address}/graphql", b'{"query": "{ __typename }"}')
        yield Server(address, pid)


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


def compare(site: Site, rounds: int, seconds: float) -> tuple[dict[str, Figures], list[Check]]:
    """The figures of the gateway and of its peers, and the checks of the latter."""
    assert site.postgresql is not None
    request = graphql(document_of_shares())
    with ExitStack() as stack:
        ours = Side(stack.enter_context(servers.gateway(site)), request, site.token)
        peers = {"stock Strawberry": Side(stack.enter_context(stock_strawberry(site)), request, site.token)}
        if install_postgraphile():
            server = stack.enter_context(postgraphile(site))
            peers["PostGraphile"] = Side(server, peer_request(site, ours.server), site.token)
        for peer in peers.values():
            check_same(site, ours, peer)
        servers.vacuum(site)
        progress.print(f"The gateway and {', '.join(peers)}")
        own, *others = measure([ours, *peers.values()], site.postgresql.pid, rounds, seconds)
    figures = dict(zip(peers, others, strict=True))
    checks = [
        Check(name, "peer / ours", [ratio(each, own)], least=TARGETS[name]) for name, each in figures.items()
    ]
    return {"the gateway": own, **figures}, checks


def peers_table(figures: dict[str, Figures], checks: list[Check]) -> str:
    by_name = {check.what: check for check in checks}
    header = ["GraphQL: list of 10 shares", "server + database, us", "/ ours", "target", ""]
    header += ["req/s", "p50, ms", "p99, ms"]
    rows = []
    for name, each in figures.items():
        check = by_name.get(name)
        judged = [number(check.figures[0]), check.bound, check.verdict] if check else ["", "", ""]
        speeds = map(number, (each.rate, each.p50, each.p99))
        rows.append([name, f"{each.server:,.0f} + {each.database:,.0f}", *judged, *speeds])
    return table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds; the table shows medians")
    parser.add_argument("--seconds", type=float, default=2, help="seconds of each turn")
    arguments = parser.parse_args()
    require_wrk()
    with tempfile.TemporaryDirectory() as folder, servers.site(Path(folder), on_postgresql=True) as site:
        figures, checks = compare(site, arguments.rounds, arguments.seconds)
    print(peers_table(figures, checks))
    if "PostGraphile" not in figures:
        print("\nPostGraphile was left out: npm could not install it and Node 22.")
    sys.exit(any(not check.is_met for check in checks))


if __name__ == "__main__":
    main()
