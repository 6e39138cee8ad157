"""The newcomer's path: clone, run, sign in, sell by curl, watch the dashboard, download as the customer.

Only the installation is left out, which takes the network: the clone runs with the packages of these tests.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import httpx
import pytest
from playwright.async_api import Browser, Page, expect

from storage.clock import now
from tests.support.browsers.in_browser import authenticating, opened
from tests.support.measures.patience import PATIENCE_SECONDS, TAKES_MINUTES

pytestmark = TAKES_MINUTES

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Started:
    """What `make run` printed, and where."""

    folder: Path
    address: str
    link: str
    token: str
    commands: list[str]

    def shell(self, commands: str) -> str:
        """What commands of README print, with the address and the token of this start."""
        commands = commands.replace("http://localhost:8000", self.address).replace("dg_wat_...", self.token)
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", commands],
            cwd=self.folder,
            check=True,
            capture_output=True,
            text=True,
        ).stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone of the last commit, in which the environment of these tests stands in for an installed one."""
    folder = tmp_path / "duograph"
    if (ROOT / ".git").exists():
        _clone(folder, tmp_path)
    else:
        # An unpacked archive has no more than a clone would have, but for what its tests left behind.
        left_behind = shutil.ignore_patterns(".venv", "var", "node_modules", "__pycache__")
        shutil.copytree(ROOT, folder, ignore=left_behind)
    program = folder / ".venv" / "bin" / "duograph"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gateway.cli.main "$@"\n')
    program.chmod(0o755)
    (folder / ".venv" / ".running").touch()
    return folder


def _clone(folder: Path, tmp_path: Path) -> None:
    trusting = tmp_path / "gitconfig"
    trusting.write_text("[safe]\n    directory = *\n")  # The repository may be another user's.
    subprocess.run(
        ["git", "clone", "--quiet", "--depth", "1", ROOT.as_uri(), str(folder)],
        env={**os.environ, "GIT_CONFIG_GLOBAL": str(trusting)},
        check=True,
    )


@pytest.fixture
def started(clone: Path) -> Iterator[Started]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("DUOGRAPH_")}
    with (clone.parent / "log").open("w+") as log:
        process = subprocess.Popen(
            ["make", "run", "PORT=0"],
            cwd=clone,
            env=environ | {"PYTHONUNBUFFERED": "1"},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        try:
            assert process.stdout is not None
            lines: list[str] = []
            while sum(line.startswith("curl ") for line in lines) < 2:
                line = process.stdout.readline()
                assert line, (clone.parent / "log").read_text()
                lines.append(line)
            printed = "".join(lines)
            (link,) = re.findall(r"^http://\S+/sign-in/demo\?\S+$", printed, re.MULTILINE)
            (token,) = re.findall(r"^dg_wat_\S+$", printed, re.MULTILINE)
            commands = [line for line in lines if line.startswith("curl ")]
            yield Started(clone, link.partition("/sign-in/")[0], link, token, commands)
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            process.communicate(timeout=PATIENCE_SECONDS)


def fifth_minute() -> str:
    text = (ROOT / "README.md").read_text().partition("**Fifth minute.**")[2]
    return text.partition("```sh\n")[2].partition("```")[0]


async def total_of(page: Page, metric: str) -> float:
    """The headline number, as its reader sees it."""
    text = await page.locator(f"#tab-{metric} strong").inner_text()
    return float(re.sub(r"[^\d.]", "", text))


async def values_of(page: Page, metric: str) -> str | None:
    """The values of the periods, as the chart's reading shows them."""
    return await page.locator(f"[data-chart={metric}]").get_attribute("data-values")


async def show_until_tomorrow(page: Page) -> None:
    """Have the dashboard show dates that do not change at midnight."""
    await page.get_by_text("Custom", exact=True).click()
    await page.get_by_label("First date").fill(f"{now() - timedelta(days=6):%Y-%m-%d}")
    await page.get_by_label("Last date").fill(f"{now() + timedelta(days=1):%Y-%m-%d}")
    await page.get_by_role("button", name="Show dates").click()
    await page.wait_for_url("**range=custom**")


@pytest.mark.long
async def test_a_newcomer_sells_a_file_watches_it_arrive_and_signs_in_by_passkey(
    chromium: Browser, started: Started, tmp_path: Path
) -> None:
    for command in started.commands:
        assert re.search("price_?[aA]mount", started.shell(command)) is not None
    async with opened(chromium, started.address, quiet_console=True) as page:
        await page.goto(started.link)
        await expect(page.get_by_label("Account")).to_contain_text("demo@example.com")
        await expect(page).to_have_url(re.compile("/demo/dashboard$"))
        await show_until_tomorrow(page)
        metrics = ("file_share_revenue", "file_share_sessions", "file_share_downloads")
        before = [await total_of(page, metric) for metric in metrics]
        periods = await values_of(page, "file_share_revenue")

        assert '"amount":2500' in started.shell(fifth_minute())
        await page.reload()
        after = [await total_of(page, metric) for metric in metrics]
        assert [round(new - old, 2) for old, new in zip(before, after, strict=True)] == [25, 1, 0]
        assert await values_of(page, "file_share_revenue") != periods
        dashboard = page.url

        await page.goto(started.address)
        await page.get_by_role("link", name="Customers", exact=True).first.click()
        await page.get_by_role("link", name="Mina Okafor").first.click()
        await page.get_by_role("link", name="Portal link").click()
        await page.get_by_role("button", name="Create link").click()
        await page.get_by_role("link", name="Open it here").click()
        await page.get_by_role("button", name="Continue").click()
        await expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
        await page.get_by_role("link", name="Lighthouse poster").first.click()
        async with page.expect_download() as downloading:
            await page.get_by_role("button", name=re.compile("^Download")).first.click()
        download = await downloading.value
        await download.save_as(tmp_path / "bought")
        assert sha256((tmp_path / "bought").read_bytes()).hexdigest() == uploaded(
            started, download.suggested_filename
        )

        await page.goto(dashboard)
        assert await total_of(page, "file_share_downloads") == after[2] + 1

        async with authenticating(page):
            await page.goto(f"{started.address}/account/security")
            await page.get_by_label("Passkey name").fill("Laptop")
            await page.get_by_role("button", name="Add passkey").click()
            await expect(page.get_by_text("Passkey added.")).to_be_visible()
            await page.get_by_role("button", name="Sign out").click()
            await page.get_by_role("button", name="Sign in with a passkey").click()
            await expect(page).to_have_url(dashboard.partition("?")[0])


def uploaded(started: Started, name: str) -> str:
    """The SHA-256 of the file with this name, as it was uploaded."""
    headers = {"Authorization": f"Bearer {started.token}"}
    files = httpx.get(f"{started.address}/api/files/", headers=headers).json()["data"]
    (checksum,) = {file["checksum_sha256_hex"] for file in files if file["name"] == name}
    return str(checksum)
