"""Debian's PgBouncer in transaction mode, in front of the tests' PostgreSQL."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import mkdtemp
from time import sleep
from typing import Any

import pytest
from sqlalchemy.engine import make_url

from storage.engine.connection_terms import Terms

# `DUOGRAPH_TEST_POOLER=1 make test` runs every test of PostgreSQL through a pooler.
VARIABLE = "DUOGRAPH_TEST_POOLER"

CONFIGURATION = """
[databases]
* = host={host} user={user}
[pgbouncer]
pool_mode = transaction
auth_type = any
listen_addr =
listen_port = 6432
unix_socket_dir = {folder}
unix_socket_mode = 0777
default_pool_size = {size}
max_client_conn = 1000
# Transactions in a row are on different connections, so that what one leaves behind shows.
server_round_robin = 1
# Tests create databases, and PostgreSQL has 100 connections.
server_idle_timeout = 5
"""


def every_test_is_pooled() -> bool:
    return bool(os.environ.get(VARIABLE))


def use_poolers(patch: pytest.MonkeyPatch) -> None:
    """Make every database of this process one behind a pooler, whatever a test asks for."""
    plain = Terms.__init__

    def pooled(self: Terms, **terms: Any) -> None:
        plain(self, **{**terms, "pooled": True})

    patch.setattr(Terms, "__init__", pooled)


@contextmanager
def pooler(url: str, size: int = 20) -> Iterator[str]:
    """The address of a database on the server of `url`, through a pooler with `size` connections to it."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program, "Install PgBouncer: `make pgbouncer`."
    parsed = make_url(url)
    # The paths of sockets are short.
    folder = Path(mkdtemp(prefix="pooler-"))
    folder.chmod(0o777)
    host = str(parsed.query["host"])
    file = folder / "pgbouncer.ini"
    file.write_text(CONFIGURATION.format(host=host, user=parsed.username, folder=folder, size=size))
    # It refuses to run as root, and PostgreSQL's directory is open to PostgreSQL's user.
    as_user = ["-u", Path(host).owner()] if os.geteuid() == 0 else []
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen([program, *as_user, str(file)], stdout=output, stderr=output)
    try:
        _wait(process, folder / ".s.PGSQL.6432", log)
        query = {**parsed.query, "host": str(folder), "port": "6432"}
        yield parsed.set(query=query).render_as_string(hide_password=False)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def _wait(process: subprocess.Popen[bytes], path: Path, log: Path) -> None:
    """Wait until it listens."""
    while True:
        assert process.poll() is None, log.read_text()
        with suppress(OSError), socket.socket(socket.AF_UNIX) as connecting:
            connecting.connect(str(path))
            return
        sleep(0.02)
