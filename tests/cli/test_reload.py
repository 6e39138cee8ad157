"""Serving while the code changes, from a copy of the project."""

import json
import shutil
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

from gateway.cli.serving.reload import PACKAGES, ROOT
from tests.support.commands.command import PROGRAM, Command


@pytest.mark.long
def test_a_changed_file_is_served_by_a_new_process(tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    command, template = Command(tmp_path), tmp_path / "gateway/web/templates/home.html"
    with subprocess.Popen(
        [*PROGRAM, "serve", "--reload", "--port", "0", "--json"],
        cwd=tmp_path,
        env=command.environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            first = json.loads(process.stdout.readline())
            assert "Changed meanwhile" not in httpx.get(first["url"]).text
            template.write_text(template.read_text().replace("One API", "Changed meanwhile"))
            second = json.loads(process.stdout.readline())
            assert "Changed meanwhile" in httpx.get(second["url"]).text
        finally:
            process.send_signal(signal.SIGTERM)
    assert process.returncode == 0


def test_production_does_not_watch_its_code(empty: Command) -> None:
    settings = {
        "DUOGRAPH_ENV": "production",
        "DUOGRAPH_SECRET_KEY": "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA",
        "DUOGRAPH_BASE_URL": "https://shop.example.com/api",
    }
    said = empty.refusal("serve", "--reload", "--port", "0", **settings)
    assert said.startswith("--reload is only for development")
