"""What a cluster costs beside one PostgreSQL: `python -m bench.cluster`.

A coordinator and two nodes of Citus on this machine, and the same database once more on the coordinator,
where it is not distributed. Each of its workspaces has the rows of one seeded workspace. Needs the Citus that
`make citus` builds, with `CITUS_OPTIMIZATION=-O2` in the environment of both.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import monotonic

import orjson
from rich.console import Console

from bench.cluster.filling import fill
from bench.http import ids
from bench.kit import servers
from bench.kit.measuring import Side, measure, ratio, typical
from bench.kit.options import options
from bench.kit.processes import machine, memory_mib, versions
from bench.kit.report import Check, number, table
from bench.kit.requests import cases
from bench.kit.servers import Server, Site, run, seeded
from bench.kit.wrk import require_wrk
from storage.engine.database import Database
from storage.retention.deletion import delete_ended
from storage.retention.rules import RULES
from storage.upkeep.folding import Fold
from tests.support.databases.own_databases import named
from tests.support.servers.citus import BUILT, Cluster, Node, cluster, create_joined

MOST_RATIO = 1.5
PLAIN, SPREAD = "plain", "spread"
TIMES = 5
ENCODED = ", as "
MOVED = "bench-7"
_CONNECTIONS = """
    SELECT pid FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid() AND datname = current_database()
"""
_ELSEWHERE = f"""
    SELECT nodename || ':' || nodeport FROM pg_dist_node WHERE shouldhaveshards AND groupid <> (
        SELECT groupid FROM pg_dist_placement JOIN workspaces ON slug = '{MOVED}'
        WHERE shardid = get_shard_id_for_distribution_column('customers', id)) LIMIT 1
"""

progress = Console(stderr=True, highlight=False)


def main() -> None:
    chosen = options(__doc__, workspaces=1_000, sessions=150, rounds=3, seconds=2.0)
    require_wrk()
    if not BUILT.exists():
        raise SystemExit("Citus is not built: `make citus` builds it.")
    with tempfile.TemporaryDirectory() as name, cluster(Path(name)) as spread:
        Path(name).chmod(0o755)
        (plain, joined), rows = make_sites(Path(name), spread, chosen.workspaces, chosen.sessions)
        rows += sweeps(plain, joined)
        memory, requests, checks = compare(plain, joined, spread.nodes, chosen.rounds, chosen.seconds)
        rows += memory + moves(joined, spread)
    print(f"{versions()}; {machine()}.\n")
    print(table(["", "PostgreSQL", "cluster"], rows), "\n")
    print(table(["request", "PostgreSQL, us", "cluster, us", "ratio", "target", ""], requests))
    raise SystemExit(not all(check.is_met for check in checks))


def make_sites(
    folder: Path, spread: Cluster, workspaces: int, sessions: int
) -> tuple[tuple[Site, Site], list[list[str]]]:
    """The same database twice, and what it took to distribute one of them."""
    coordinator = spread.nodes[0]
    coordinator.psql(f"CREATE DATABASE {PLAIN}")
    plain = seeded(folder, named(spread.url, PLAIN), server_of(coordinator), sessions)
    facts = fill(plain, workspaces - 1)
    create_joined(spread.nodes, SPREAD, PLAIN)
    joined = replace(plain, database_url=named(spread.url, SPREAD))
    size = bytes_of(coordinator, PLAIN)
    progress.print(f"{workspaces:,} workspaces with {facts:,} facts, {size / 1e6:,.0f} MB")
    begun = monotonic()
    run(joined, "distribute", "--json")
    seconds = monotonic() - begun
    progress.print(f"Distributed in {seconds:.0f} s")
    for node in spread.nodes:
        node.psql("VACUUM ANALYZE", SPREAD)
    coordinator.psql("VACUUM ANALYZE", PLAIN)
    sizes = [bytes_of(node, SPREAD) for node in spread.nodes]
    rows = [
        ["workspaces, facts", f"{workspaces:,}, {facts:,}", ""],
        ["`duograph distribute`", "", f"{seconds:.0f} s"],
        ["disk, MB: coordinator, nodes", number(size / 1e6), ", ".join(number(each / 1e6) for each in sizes)],
    ]
    return (plain, joined), rows


def server_of(node: Node) -> Server:
    return Server(node.url, node.processes()[0])


def bytes_of(node: Node, database: str) -> int:
    return int(node.psql(f"SELECT pg_database_size('{database}')"))


def sweeps(*sites: Site) -> list[list[str]]:
    """How long the looks into all workspaces take that find nothing to do."""

    async def fold(database: Database) -> None:
        await Fold(database).run()

    async def retention(database: Database) -> None:
        while await delete_ended(database, RULES):
            pass

    looks = {
        "look for deltas, twice a minute and process": fold,
        "look for what has ended, once an hour and process": retention,
    }
    return [
        [f"{name}, ms", *(number(1000 * asyncio.run(_seconds_of(site, look))) for site in sites)]
        for name, look in looks.items()
    ]


async def _seconds_of(site: Site, look: Callable[[Database], Awaitable[None]]) -> float:
    database, taken = Database(site.database_url, pool_size=1), []
    await look(database)
    for _ in range(TIMES):
        begun = monotonic()
        await look(database)
        taken.append(monotonic() - begun)
    await database.close()
    return median(taken)


def compare(
    plain: Site, joined: Site, nodes: Sequence[Node], rounds: int, seconds: float
) -> tuple[list[list[str]], list[list[str]], list[Check]]:
    """What connections hold after reads, and the processor times of these: the gateway's and all servers'."""
    databases = [node.processes()[0] for node in nodes]
    rows, checks = [], []
    with servers.gateway(plain) as one, servers.gateway(joined) as other:
        for case in cases(*ids(one, plain)):
            if not case.is_read or ENCODED in case.name or case.name == "`/health`":
                continue
            sides = [Side(server, case.ours, plain.token) for server in (one, other)]
            beside, ours = measure(sides, databases, rounds, seconds)
            check = Check(case.name, "", [ratio(ours, beside)], most=MOST_RATIO)
            rows.append([case.name, typical(beside).times, typical(ours).times, *check.cells])
            checks.append(check)
            progress.print(" | ".join(rows[-1]))
        held_by = [held(nodes[0], PLAIN), ", ".join(held(node, SPREAD) for node in nodes)]
    return [["connections and their memory: coordinator, nodes", *held_by]], rows, checks


def held(node: Node, database: str) -> str:
    """The connections of the database at the node, and what their processes have to themselves."""
    pids = [int(pid) for pid in node.psql(_CONNECTIONS, database).split()]
    return f"{len(pids)}: {sum(map(memory_mib, pids)):.0f} MiB"


def moves(joined: Site, spread: Cluster) -> list[list[str]]:
    """How long it takes to move a workspace with its shard, and then by itself."""
    rows = []
    for option in ([], ["--alone"]):
        target = spread.nodes[0].psql(_ELSEWHERE, SPREAD).strip()
        begun = monotonic()
        moved = orjson.loads(run(joined, "workspaces", "move", MOVED, target, *option, "--json"))
        taken = f"{monotonic() - begun:.1f} s, with {moved['other_workspaces']} other workspaces"
        rows.append([f"`{' '.join(['duograph workspaces move', *option])}`", "", taken])
    return rows


if __name__ == "__main__":
    main()
