"""The dashboard of docs/examples, on another origin in a real browser, and its twin in plain Python."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.async_api import Browser, Dialog, Page, expect

from tests.support.browsers.in_browser import PATIENCE
from tests.support.servers.live import serve
from tests.support.servers.other_origin import serve_folder

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
NAMES = ["Revenue", "Sessions", "Downloads", "Active users"]
SHARES = ["Tides", "<b>Winds</b>", *(f"Small {number}" for number in range(1, 10))]
# Clicks each number; gives its text, and the first line of what it opens.
OPEN_EACH = """async () => {
    const opened = [], shown = document.querySelector("pre");
    for (const button of document.querySelectorAll("button")) {
        shown.textContent = "";
        button.click();
        while (!shown.textContent) await new Promise((resolve) => setTimeout(resolve, 5));
        const label = button.closest("tr").firstElementChild.textContent;
        opened.push([label, button.textContent, shown.textContent.split("\\n")[0]]);
    }
    return opened;
}"""


def sold(days_ago: int, amount: int, refunded: int = 0, **share: str) -> dict[str, Any]:
    """A session that was paid at noon, and downloaded once."""
    noon = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=days_ago)
    at = noon.isoformat().replace("+00:00", ".000000Z")
    refunds = [{"amount": refunded, "at": at}] if refunded else []
    return {
        "external_id": f"sale-{days_ago}",
        "file_size_bytes": 1_000,
        "created_at": at,
        "price_amount": amount,
        "price_currency": "usd",
        "payments": [{"amount": amount, "currency": "usd", "at": at, "refunds": refunds}],
        "downloads": [at],
        **share,
    }


@pytest.fixture(scope="module")
async def sales(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[tuple[str, str]]:
    """The address of a gateway with sales of two shares in both ranges, and a token."""
    folder = tmp_path_factory.mktemp("site")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        async with httpx.AsyncClient(base_url=f"{address}/api", headers=headers) as client:
            ids = []
            for name in SHARES:
                made = await client.post("/shares/", json={"name": name, "prices": [{"amount_type": "free"}]})
                ids.append(made.json()["id"])
            sessions = [
                sold(2, 1500, share_id=ids[0]),
                sold(3, 1500, refunded=500, share_id=ids[0]),
                sold(4, 700, share_id=ids[1]),
                sold(5, 300),
                *(sold(5 + number, 10 * number, share_id=ids[1 + number]) for number in range(1, 10)),
                sold(40, 900, share_id=ids[1]),
            ]
            events = [{"name": "read", "share_id": ids[0], "external_customer_id": who} for who in "abb"]
            answer = await client.post("/events/ingest", json={"events": events})
            assert answer.status_code == 201, answer.text
            answer = await client.post("/file-share-sessions/ingest", json={"sessions": sessions})
            assert answer.status_code == 201, answer.text
        yield address, tenant.token


@asynccontextmanager
async def opened(
    chromium: Browser, folder: Path, address: str, token: str
) -> AsyncIterator[tuple[Page, str]]:
    """A page and the dashboard's address on another origin, where it asks for a token and gets this one."""
    text = (EXAMPLES / "dashboard.html").read_text().replace("http://localhost:8000", address)
    await asyncio.to_thread((folder / "dashboard.html").write_text, text)
    with serve_folder(folder) as origin:
        page = await chromium.new_page()
        page.set_default_timeout(PATIENCE)

        async def give(dialog: Dialog) -> None:
            await dialog.accept(token)

        page.on("dialog", give)
        yield page, f"{origin}/dashboard.html"
        await page.close()


async def test_the_page_draws_and_lists_what_was_sold(
    chromium: Browser, sales: tuple[str, str], tmp_path: Path
) -> None:
    address, token = sales
    async with opened(chromium, tmp_path, address, token) as (page, dashboard):
        requests: list[str] = []
        page.on("request", lambda request: requests.append(f"{request.method} {request.url}"))
        await page.goto(dashboard)
        await expect(page.get_by_text("The 30 days before")).to_be_visible()
        rows = [(await row.inner_text()).split("\t") for row in await page.locator("tr").all()]
        assert rows[0] == ["", *NAMES]
        assert [*rows[2:7], rows[-1]] == [
            ["Total", "$39.50", "13", "13", "2"],
            ["The 30 days before", "$9.00", "1", "1", "0"],
            ["Tides", "$25.00", "2", "2", "2"],
            ["<b>Winds</b>", "$7.00", "1", "1", "0"],
            ["No share", "$3.00", "1", "1", "0"],
            ["Other", "$0.30", "2", "2", "0"],
        ]
        assert await page.locator("svg polyline").count() == 2 * len(NAMES)
        assert requests.count(f"POST {address}/graphql") == 1


async def test_each_number_of_the_page_opens_the_rows_that_make_it(
    chromium: Browser, sales: tuple[str, str], tmp_path: Path
) -> None:
    async with opened(chromium, tmp_path, *sales) as (page, dashboard):
        await page.goto(dashboard)
        await expect(page.get_by_role("row", name="Other")).to_be_visible()
        found = await page.evaluate(OPEN_EACH)
        assert len(found) == (2 + 11) * len(NAMES)
        for place, (label, number, heading) in enumerate(found):
            assert heading.startswith(f"{NAMES[place % len(NAMES)]}, {label}: {number} of "), heading
        await page.get_by_role("row", name="Tides").get_by_role("button").nth(1).click()
        await expect(page.locator("pre")).to_contain_text('"external_id": "sale-3"')
        await expect(page.locator("pre")).not_to_contain_text("sale-4")


async def test_a_refused_page_says_why(chromium: Browser, sales: tuple[str, str], tmp_path: Path) -> None:
    async with opened(chromium, tmp_path, sales[0], "duo_wrong") as (page, dashboard):
        await page.goto(dashboard)
        await expect(page.locator("p")).to_have_text("The credential is unknown, expired or revoked.")


async def test_the_twin_prints_the_same(sales: tuple[str, str]) -> None:
    address, token = sales
    command = [sys.executable, "-I", "-S", str(EXAMPLES / "dashboard.py")]
    environment = os.environ | {"DUOGRAPH": address, "TOKEN": token, "TZ": "UTC"}
    ended = await asyncio.to_thread(
        subprocess.run, command, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    lines = [line.split("\t") for line in ended.stdout.splitlines()]
    assert [*lines[:5], lines[-1]] == [
        ["Total", "3950", "13", "13", "2"],
        ["Before", "900", "1", "1", "0"],
        ["Tides", "2500", "2", "2", "2"],
        ["<b>Winds</b>", "700", "1", "1", "0"],
        ["No share", "300", "1", "1", "0"],
        ["Other", "30", "2", "2", "0"],
    ]
