"""The customer portal in a real Chromium: by link and code, with and without scripts, on any screen."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, expect

from storage.clock import now
from storage.engine.database import Database
from tests.support.browsers.in_browser import PATIENCE, opened
from tests.support.callers.surfaces import Rest
from tests.support.mails.mailed import latest_code, mails_to
from tests.support.measures.patience import until
from tests.support.servers.live import serve
from tests.support.tenants.uploads import upload_file, upload_image

OWNER = "grace@bluebird.example"
RETURN_URL = "https://shop.example/account"
# Each test that downloads the file adds one to what the site's others see.
ANY_DOWNLOADS = re.compile(r"^\s*\d+ downloads?\s*$")


@dataclass(frozen=True)
class Site:
    """A running gateway with a workspace that has something for every page of its portal."""

    address: str
    path: str
    rest: Rest
    team: dict[str, Any]
    database: Database
    outbox: Path

    @property
    def portal(self) -> str:
        return f"{self.address}{self.path}"

    async def link(self) -> str:
        data = {"customer_id": self.team["id"], "return_url": RETURN_URL}
        return str((await self.rest.create_customer_session(data=data))["customer_portal_url"])


async def furnish(rest: Rest) -> dict[str, Any]:
    """Shares, a team of two, and a session that was paid and downloaded."""
    media = await upload_image(rest)
    price = {"amount_type": "fixed", "price_amount": 14900, "price_currency": "eur"}
    file = await upload_file(rest, b"numbers", name="report.pdf", mime_type="application/pdf")
    share = await rest.create_share(
        data={
            "name": "Quarterly report",
            "prices": [price],
            "medias": [media["id"]],
            "downloads": [file["id"]],
            "description": "Every number of the quarter.",
        }
    )
    await rest.create_share(data={"name": "Colour cards", "prices": [{"amount_type": "free"}]})
    (workspace,) = (await rest.list_workspaces())["data"]
    settings = {"feature_settings": {"member_model_enabled": True}}
    await rest.update_workspace(id=workspace["id"], data=settings)
    owner = {"email": OWNER, "name": "Grace Hopper"}
    team = await rest.create_customer(
        data={"email": "team@bluebird.example", "name": "Bluebird", "type": "team", "owner": owner}
    )
    await rest.create_member(data={"customer_id": team["id"], "email": "bo@bluebird.example"})
    session = await rest.create_file_share_session(
        data={
            "share_id": share["id"],
            "customer_id": team["id"],
            "price_amount": 14900,
            "price_currency": "eur",
            "file_size_bytes": 4404019,
            "created_at": "2026-01-31T09:00:00Z",
        }
    )
    await rest.record_download(id=session["id"], data={"at": "2026-01-31T10:00:00Z"})
    await rest.record_payment(
        id=session["id"], data={"amount": 14900, "currency": "eur", "at": "2026-01-31T09:30:00Z"}
    )
    return dict(team)


@pytest_asyncio.fixture(scope="module")
async def site(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Site]:
    folder = tmp_path_factory.mktemp("portal")
    url = f"sqlite+aiosqlite:///{folder}/duograph.sqlite"
    database = Database(url)
    with serve(url, folder / "objects") as (address, tenant):
        async with httpx.AsyncClient(base_url=address, timeout=PATIENCE / 1000) as client:
            rest = Rest(client, None, tenant.token)
            team = await furnish(rest)
            yield Site(address, f"/{tenant.slug}/portal", rest, team, database, folder / "objects/outbox")
    await database.close()


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
async def test_a_customer_enters_by_a_link_and_looks_around(
    chromium: Browser, site: Site, scripts: bool
) -> None:
    async with opened(chromium, site.address, scripts=scripts) as page:
        await page.goto(await site.link())
        await page.get_by_role("button", name="Continue").click()
        assert page.url == site.portal
        await expect(page.get_by_role("heading", name="Quarterly report")).to_be_visible()
        await expect(page.get_by_text("€149.00")).to_be_visible()
        back = page.get_by_role("link", name="Back to shop.example")
        await expect(back).to_have_attribute("href", RETURN_URL)

        await page.get_by_role("link", name="Quarterly report").click()
        await page.get_by_text(ANY_DOWNLOADS).click()
        await expect(page.get_by_text("31 January 2026, 10:00 UTC")).to_be_visible()
        await page.get_by_role("link", name="Catalog").click()
        await page.get_by_role("link", name="Colour cards").click()
        await expect(page.get_by_role("heading", name="Colour cards")).to_be_visible()

        await page.get_by_role("link", name="Profile").click()
        await page.get_by_label("City").fill("Berlin")
        await page.get_by_label("Country").select_option("Germany")
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("status")).to_have_text("Profile saved.")
        await expect(page.get_by_label("City")).to_have_value("Berlin")

        await page.get_by_role("link", name="Members").click()
        await expect(page.get_by_text("Grace Hopper (you)")).to_be_visible()

        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("status")).to_have_text("You are signed out.")
        await page.goto(f"{site.portal}/profile")
        assert page.url == site.portal


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without scripts"])
async def test_a_customer_downloads_what_it_bought_and_the_workspace_counts_it(
    chromium: Browser, site: Site, tmp_path: Path, scripts: bool
) -> None:
    tomorrow = f"{now() + timedelta(days=1):%Y-%m-%d}"
    query = {"start_date": "2026-02-01", "end_date": tomorrow, "interval": "year"}
    before = await site.rest.get_metrics(**query)
    listed = await site.rest.list_file_share_downloads()
    async with opened(chromium, site.address, scripts=scripts) as page:
        await page.goto(await site.link())
        await page.get_by_role("button", name="Continue").click()
        await page.get_by_role("link", name="Quarterly report").click()
        await expect(page.get_by_text("Every number of the quarter.")).to_be_visible()
        async with page.expect_download() as downloading:
            await page.get_by_role("button", name="Download report.pdf").click()
        download = await downloading.value
        assert download.suggested_filename == "report.pdf"
        await download.save_as(tmp_path / "report.pdf")
        assert (tmp_path / "report.pdf").read_bytes() == b"numbers"
        await expect(page.get_by_role("status")).to_contain_text("Your download has started.")
    after = await site.rest.get_metrics(**query)
    counted = [metrics["totals"]["file_share_downloads"] for metrics in (before, after)]
    assert counted[1] - counted[0] == 1
    assert (await site.rest.list_file_share_downloads())["meta"]["total"] - listed["meta"]["total"] == 1


async def test_no_script_can_read_the_session_and_no_other_page_is_sent_it(
    chromium: Browser, site: Site
) -> None:
    async with opened(chromium, site.address) as page:
        await page.goto(await site.link())
        await page.get_by_role("button", name="Continue").click()
        assert "duograph_portal" not in await page.evaluate("document.cookie")
        (cookie,) = [c for c in await page.context.cookies() if c["name"] == "duograph_portal"]
        assert (cookie["path"], cookie["httpOnly"], cookie["sameSite"]) == (site.path, True, "Lax")
        assert "customer_session_token" not in await page.evaluate("document.referrer + location.href")
        async with page.expect_request("**/docs") as asked:
            await page.goto(f"{site.address}/docs")
        assert "duograph_portal" not in (await (await asked.value).all_headers()).get("cookie", "")
        await page.goto(site.portal)


async def mailed_code(site: Site, address: str) -> str:
    """The code, once it has been mailed: the gateway does so after its answer."""

    async def is_mailed() -> bool:
        return bool(await mails_to(site, address))

    await until(is_mailed)
    return await latest_code(site, address)


async def test_a_customer_signs_in_with_an_emailed_code(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site.address, width=390) as page:
        await page.goto(site.portal)
        await page.get_by_label("Email address").fill(OWNER)
        await page.get_by_role("button", name="Email me a code").click()
        await expect(page.get_by_role("heading", name="Enter your code")).to_be_visible()
        code = await mailed_code(site, OWNER)
        await page.get_by_label("Code").fill("222222" if code != "222222" else "333333")
        await page.get_by_label("Code").press("Enter")
        await expect(page.get_by_role("alert")).to_contain_text("wrong or has expired")
        await page.get_by_label("Code").fill(code.lower())
        await page.get_by_label("Code").press("Enter")
        await expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
        assert page.url == site.portal
