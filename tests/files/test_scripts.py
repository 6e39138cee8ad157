"""The scripts of docs/uploads.md, as a reader runs them: a gateway is killed and they go on.

`UPLOAD_MIB` is the size of the file; `make uploads` takes 200.
"""

import json
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.commands.command import Command
from tests.support.measures.patience import TAKES_MINUTES
from tests.support.servers.ports import own_port

pytestmark = TAKES_MINUTES

DOCS = Path(__file__).parents[2] / "docs"
SIZE = int(os.environ.get("UPLOAD_MIB", "16")) * 1024 * 1024 + 12_345
SCRIPTS = {"python": [sys.executable, str(DOCS / "upload.py")], "curl": ["bash", str(DOCS / "upload.sh")]}
RESUME = {"python": ["--resume"], "curl": []}


@pytest.fixture(params=["local", "s3"])
def command(request, tmp_path):
    """The command with the settings of a workspace's installation, on each store."""
    settings = {}
    if request.param == "s3":
        server = request.getfixturevalue("s3_server")
        settings = {
            f"DUOGRAPH_{name.upper()}": value for name, value in server.settings(f"s-{uuid4().hex}").items()
        }
    return Command(tmp_path, {"DUOGRAPH_RATE_LIMIT": "0", **settings})


@pytest.fixture
def port():
    return own_port()


@contextmanager
def gateway(command, port, *arguments):
    """A gateway's process, which answers, and what it said; in the end it is killed as by a power cut."""
    log = command.directory / "log"
    with (
        log.open("a") as said,
        command.start(
            "serve", "--port", str(port), "--json", *arguments, stdout=subprocess.PIPE, stderr=said
        ) as process,
    ):
        yield process, json.loads(process.stdout.readline())
        process.send_signal(signal.SIGKILL)


@contextmanager
def script(name, command, port, token, *arguments):
    """The script while it runs, line by line."""
    settings = {"DUOGRAPH": f"http://127.0.0.1:{port}", "TOKEN": token, "PART_MIB": "5"}
    with subprocess.Popen(
        [*SCRIPTS[name], *arguments],
        env={**os.environ, **settings},
        cwd=command.directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


@pytest.mark.long
@pytest.mark.parametrize("name", SCRIPTS)
def test_an_upload_outlives_its_gateway(command, port, name, tmp_path):
    (tmp_path / "big.bin").write_bytes(os.urandom(SIZE))
    out, token, options = "", None, ["--demo"]
    # On a busy machine, all parts may have arrived before the gateway is killed.
    while "parts have arrived" not in out:
        with gateway(command, port, *options) as (serving, said):
            token, options = token or said["demo"]["workspace_token"], []
            with script(name, command, port, token, "big.bin") as first:
                id = _sent_until_killed(first, serving)
        resumed = script(name, command, port, token, "big.bin", *RESUME[name], id)
        with gateway(command, port), resumed as second:
            out, said = second.communicate(timeout=600)
        assert second.returncode == 0, said
    arrived = int(out.splitlines()[1].split(" of ")[0])
    assert arrived >= 2
    assert "The downloaded bytes are equal" in out


def _sent_until_killed(first, serving):
    """The file's id, once the gateway was killed after two parts and the script has said how to go on."""
    id = first.stdout.readline().split()[1]
    assert first.stdout.readline().startswith("0 of ")
    assert [first.stdout.readline() for _ in range(2)] == ["part 1\n", "part 2\n"]
    serving.send_signal(signal.SIGKILL)
    out, said = first.communicate(timeout=300)
    assert (first.returncode != 0 and id in said) or "The downloaded bytes are equal" in out
    return id
