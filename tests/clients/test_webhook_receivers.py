"""The documented receiver in TypeScript takes what a gateway sends, and refuses what it did not sign."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.clients.npm import CLIENTS, install
from tests.support.measures.patience import PATIENCE_SECONDS, TAKES_MINUTES
from tests.support.servers.live import serve
from tests.support.servers.ports import own_port

pytestmark = [TAKES_MINUTES, pytest.mark.long]

PAGE = Path(__file__).parents[2] / "docs" / "webhooks.md"
OPTIONS = ["--strict", "--target", "ES2022", "--module", "NodeNext", "--types", "node", "--skipLibCheck"]
SHARE = {"name": "Told", "prices": [{"amount_type": "free"}]}


@contextmanager
def receiving(program: str, folder: Path, secret: str) -> Iterator[subprocess.Popen[str]]:
    """Run the program, compiled strictly; `stdout` is what it prints."""
    (folder / "receiver.mts").write_text(program)
    (folder / "node_modules").symlink_to(CLIENTS / "node_modules")
    compiled = subprocess.run(
        ["node_modules/.bin/tsc", *OPTIONS, "receiver.mts"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stdout
    command, environ = ["node", str(folder / "receiver.mjs")], {**os.environ, "WEBHOOK_SECRET": secret}
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as running:
        try:
            yield running
        finally:
            running.kill()


def test_the_documented_receiver_takes_a_webhook_and_no_other(tmp_path: Path) -> None:
    install()
    (program,) = re.findall(r"```ts\n(.*?)```", PAGE.read_text(), re.DOTALL)
    port = own_port()
    url = f"http://127.0.0.1:{port}/hooks"
    database = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    with serve(database, tmp_path, webhook_allow=["127.0.0.0/8"]) as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        with httpx.Client(base_url=f"{address}/api", headers=headers, timeout=PATIENCE_SECONDS) as client:
            made = client.post("/webhook-endpoints/", json={"url": url, "kinds": ["share.created"]}).json()
            with receiving(program.replace("3000", str(port)), tmp_path, made["secret"]) as receiver:
                share = client.post("/shares/", json=SHARE).json()
                told = iter(receiver.stdout or ())
                assert next(told).startswith("share.created {")
                assert share["id"] in next(told)
                forged = {"webhook-id": "1", "webhook-timestamp": "1", "webhook-signature": "v1,forged"}
                assert httpx.post(url, content="{}", headers=forged).status_code == 400
