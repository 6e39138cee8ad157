"""The pages of a workspace's records in a real browser: by mouse, without JavaScript, and on a phone."""

from __future__ import annotations

import asyncio
import re
import struct
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Dialog, Page, Route, expect

from tests.support.browsers.in_browser import opened, sign_in_unseen
from tests.support.servers.gateways import Tenant, bearer
from tests.support.servers.live import serve

Site = tuple[str, Tenant]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("site")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as running:
        yield running


@pytest_asyncio.fixture
async def api(site: Site) -> AsyncIterator[httpx.AsyncClient]:
    address, tenant = site
    async with httpx.AsyncClient(base_url=f"{address}/api", headers=bearer(tenant.token)) as client:
        yield client


async def made(api: httpx.AsyncClient, path: str, **data: Any) -> dict[str, Any]:
    answer = await api.post(path, json=data)
    answer.raise_for_status()
    found: dict[str, Any] = answer.json()
    return found


async def enter(page: Page, site: Site, path: str) -> None:
    """Sign in and open a page of the workspace."""
    address, tenant = site
    await sign_in_unseen(page, address, tenant)
    await page.goto(f"{address}/{tenant.slug}{path}")


def picture(side: int) -> bytes:
    """A PNG of one colour, made larger by a chunk that is not shown."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + b"\x60\x50\xd0" * side for _ in range(side))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    filling = chunk(b"teSt", bytes(9 * 1024 * 1024))
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", header),
            filling,
            chunk(b"IDAT", zlib.compress(rows)),
            chunk(b"IEND", b""),
        ]
    )


@pytest.mark.parametrize("script", [True, False], ids=["with JavaScript", "without JavaScript"])
async def test_a_share_is_created_edited_and_archived(chromium: Browser, site: Site, script: bool) -> None:
    async with opened(chromium, site[0], scripts=script) as page:
        await enter(page, site, "/shares")
        await page.get_by_role("link", name="New share").first.click()
        await page.get_by_label("Name", exact=True).fill("Field guide")
        await page.get_by_label("Amount", exact=True).fill("15.00")
        await page.get_by_label("Currency").select_option("eur")
        await page.get_by_role("button", name="Create share").click()
        await expect(page.get_by_role("status").first).to_have_text("Share created.")
        await expect(page.locator(".facts").first).to_contain_text("€15.00")
        await page.get_by_role("link", name="Edit").click()
        await page.get_by_label("Amount", exact=True).fill("lots")
        await page.get_by_role("button", name="Save share").click()
        await expect(page.get_by_role("alert")).to_be_focused()
        await page.get_by_role("link", name="Amount: Enter an amount").click()
        await expect(page.get_by_label("Amount", exact=True)).to_be_focused()
        await page.get_by_label("Amount", exact=True).fill("18")
        await page.get_by_role("button", name="Save share").click()
        await expect(page.locator(".facts").first).to_contain_text("€18.00")
        await page.locator(".confirm summary").click()
        await page.get_by_role("button", name="Archive share").click()
        await expect(page.get_by_role("status").first).to_have_text("Share archived.")


async def test_an_image_is_uploaded_in_parts_with_its_progress(
    chromium: Browser, site: Site, api: httpx.AsyncClient
) -> None:
    share = await made(api, "/shares/", name="With a picture", prices=[{"amount_type": "free"}])
    content = picture(64)
    proceed = asyncio.Event()
    sent: list[int] = []

    async def hold(route: Route) -> None:
        await proceed.wait()
        sent.append(len(route.request.post_data_buffer or b""))
        await route.continue_()

    async with opened(chromium, site[0]) as page:
        await enter(page, site, f"/shares/{share['id']}/edit")
        await page.route("**/objects*", hold)
        file = {"name": "cover.png", "mimeType": "image/png", "buffer": content}
        await page.locator("#medias-files").set_input_files([file])  # type: ignore[list-item]
        await expect(page.get_by_role("progressbar", name="cover.png")).to_be_visible()
        await expect(page.get_by_role("button", name="Save share").last).to_be_disabled()
        proceed.set()
        await expect(page.get_by_role("checkbox", name="cover.png")).to_be_checked()
        await page.get_by_role("button", name="Save share").last.click()
        image = page.get_by_role("img", name="cover.png")
        await expect(image).to_be_visible()
        await expect(page.locator("h1 img")).to_have_js_property("complete", True)
        assert await image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 64
    assert sorted(sent) == [len(content) - 8 * 1024 * 1024, 8 * 1024 * 1024]
    [media] = (await api.get(f"/shares/{share['id']}")).json()["medias"]
    assert (await api.get(media["public_url"])).content == content


async def test_a_file_that_is_refused_says_why(chromium: Browser, site: Site, api: httpx.AsyncClient) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, "/shares/new")
        file = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"text"}
        await page.locator("#medias-files").set_input_files([file])  # type: ignore[list-item]
        refusal = "notes.txt: This is not a picture that pages can show."
        await expect(page.locator(".progress .error")).to_contain_text(refusal)
        # A proxy answers for a gateway that is away.
        await page.route("**/api/files/", lambda route: route.fulfill(status=503, body="<h1>Later</h1>"))
        await page.locator("#medias-files").set_input_files([file])  # type: ignore[list-item]
        refusal = "notes.txt: The server cannot be reached. Try again."
        await expect(page.locator(".progress .error").last).to_have_text(refusal)


async def test_only_the_fields_of_the_chosen_kind_are_shown(chromium: Browser, site: Site) -> None:
    async with opened(chromium, site[0]) as page:
        await enter(page, site, "/shares/new")
        await expect(page.get_by_label("Minimum")).to_be_hidden()
        await page.get_by_label("Kind").select_option("custom")
        await expect(page.get_by_label("Minimum")).to_be_visible()
        await expect(page.get_by_label("Amount", exact=True)).to_be_hidden()
        await page.goto(f"{site[0]}/{site[1].slug}/custom-fields/new")
        await expect(page.get_by_role("group", name="Options", exact=True)).to_be_hidden()
        await page.get_by_label("Type").first.select_option("select")
        await expect(page.get_by_role("group", name="Options", exact=True)).to_be_visible()
        await expect(page.get_by_label("Longest text")).to_be_hidden()


async def test_a_founders_browser_tells_its_zone_and_the_account_is_shown_in_it(
    chromium: Browser, site: Site
) -> None:
    context = await chromium.new_context(timezone_id="Asia/Kolkata")
    page = await context.new_page()
    await enter(page, site, "/dashboard")
    await page.goto(f"{site[0]}/workspaces")
    # Chromium has the older of its two names.
    await expect(page.locator("input[name=timezone]")).to_have_value("Asia/Calcutta")
    await page.goto(f"{site[0]}/account/browser-sessions")
    await expect(page.locator("time").first).to_contain_text("GMT+5:30")
    await context.close()


async def test_a_list_of_events_renews_itself_until_it_is_paused(
    chromium: Browser, site: Site, api: httpx.AsyncClient
) -> None:
    event = {"name": "live.one", "external_customer_id": "x"}
    async with opened(chromium, site[0]) as page:
        await enter(page, site, "/events?name=live.one")
        rows = page.get_by_role("table", name="Events").get_by_role("row")
        state, shown = page.locator(".live .state"), page.get_by_role("button", name="Show 1 new")
        await expect(state).to_have_text("Live")
        await made(api, "/events/ingest", events=[event])
        await expect(rows).to_have_count(2)
        await expect(state).to_have_text("Live: 1 new")
        # Who is in the list is not interrupted.
        await rows.get_by_role("link").first.focus()
        await made(api, "/events/ingest", events=[event])
        await expect(shown).to_be_visible()
        await expect(rows).to_have_count(2)
        await shown.click()
        await expect(rows).to_have_count(3)
        await page.get_by_role("button", name="Pause").click()
        await expect(state).to_have_text("Paused")
        await made(api, "/events/ingest", events=[event])
        await page.get_by_role("button", name="Resume").click()
        await expect(rows).to_have_count(4)
        # The address that can be kept has what was asked, and no empty fields.
        await page.get_by_label("Source").select_option("user")
        await page.get_by_label("Filters").get_by_role("button", name="Show", exact=True).click()
        await page.wait_for_url("**source=user**")
        assert not re.search("=(&|$)", page.url)


async def test_a_list_says_that_it_has_no_connection_and_asks_again(
    chromium: Browser, site: Site, api: httpx.AsyncClient
) -> None:
    async with opened(chromium, site[0]) as page:
        await page.route("**/api/changes/stream*", lambda route: route.abort())
        await page.clock.install()
        await enter(page, site, "/sessions")
        state = page.locator(".live .state")
        await expect(state).to_have_text("No connection: trying again")
        await expect(page.get_by_role("status").filter(has_text="No connection")).to_have_count(1)
        await page.unroute("**/api/changes/stream*")
        await page.clock.run_for(6_000)
        await expect(state).to_have_text("Live")


async def test_a_file_is_uploaded_by_dropping_it(
    chromium: Browser, site: Site, api: httpx.AsyncClient
) -> None:
    drop = """(field) => {
        const data = new DataTransfer();
        data.items.add(new File(["a book"], "dropped.pdf", { type: "application/pdf" }));
        field.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }"""
    async with opened(chromium, site[0]) as page:
        await enter(page, site, "/files")
        await page.locator("[data-upload]").evaluate(drop)
        await expect(page.get_by_role("link", name="dropped.pdf")).to_be_visible()
        await page.get_by_role("link", name="dropped.pdf").click()
        async with page.expect_download() as download:
            await page.get_by_role("link", name="Download").click()
        assert (await (await download.value).path()).read_bytes() == b"a book"


async def test_a_form_that_was_changed_and_not_sent_asks_before_it_is_left(
    chromium: Browser, site: Site
) -> None:
    async with opened(chromium, site[0]) as page:
        asked: list[str] = []

        async def answer(dialog: Dialog) -> None:
            asked.append(dialog.type)
            await dialog.dismiss()

        page.on("dialog", answer)
        await enter(page, site, "/customers/new")
        form = page.url
        await page.get_by_role("link", name="Cancel").click()
        await expect(page).to_have_url(re.compile("/customers$"))
        await page.goto(form)
        await page.get_by_label("Email").fill("ada@example.com")
        await page.get_by_role("link", name="Cancel").click()
        await expect(page).to_have_url(form)
        assert asked == ["beforeunload"]
        await page.get_by_role("button", name="Create customer").last.click()
        await expect(page.get_by_text("Customer created.")).to_be_visible()
        assert asked == ["beforeunload"]
