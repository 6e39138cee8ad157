"""A browser without JavaScript: it keeps cookies, reads pages, fills in forms as they are and sends them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlencode, urljoin
from uuid import UUID

import httpx
from sqlalchemy import update

from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.servers.gateways import Gateway, start_session

PASSWORD = "a long password"
_credentials = table_of(CredentialRow)


@dataclass
class PageForm:
    """A form of a page; `fields` are what it would send as it is."""

    action: str
    method: str
    fields: list[tuple[str, str]] = field(default_factory=list)
    buttons: list[str] = field(default_factory=list)


class Reading(HTMLParser):
    """What there is to read of a page, and its forms."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.forms: list[PageForm] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self._select = ""
        self._area = ""
        self._in_button = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(PageForm(given.get("action", ""), given.get("method", "get")))
        elif tag == "input":
            ticks = given.get("type") in ("checkbox", "radio")
            if "name" in given and (not ticks or "checked" in given):
                self.forms[-1].fields.append((given["name"], given.get("value", "on" if ticks else "")))
        elif tag == "textarea":
            self._area = given["name"]
            self.forms[-1].fields.append((self._area, ""))
        elif tag == "select":
            self._select = given.get("name", "")
        elif tag == "option" and "selected" in given:
            self.forms[-1].fields.append((self._select, given["value"]))
        elif tag == "a":
            self.links.append(given["href"])
        self._in_button = tag == "button"

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._area = ""

    def handle_data(self, data: str) -> None:
        if self._area:
            self.forms[-1].fields[-1] = (self._area, data)
            return
        if data.strip():
            self.texts.append(" ".join(data.split()))
            if self._in_button and self.forms:
                self.forms[-1].buttons.append(self.texts[-1])

    @property
    def text(self) -> str:
        return " ".join(self.texts)


@dataclass
class Browsing:
    """One browser on the pages of a gateway; `page` is the answer that it shows."""

    client: httpx.AsyncClient
    page: httpx.Response = field(default_factory=lambda: httpx.Response(204))

    @property
    def reading(self) -> Reading:
        return Reading(self.page.text)

    @property
    def text(self) -> str:
        return self.reading.text

    @property
    def path(self) -> str:
        return self.page.request.url.raw_path.decode()

    async def open(self, path: str) -> httpx.Response:
        self.page = await self.client.get(path, follow_redirects=True)
        return self.page

    def form(self, button: str) -> PageForm:
        """The form that has this button."""
        (found,) = (form for form in self.reading.forms if button in form.buttons)
        return found

    async def press(self, button: str, *, follow: bool = True, **changes: Any) -> httpx.Response:
        """Send the form that has this button with `changes`: a list is all of a name's values, None none."""
        form = self.form(button)
        changed = {name.replace("__", "."): value for name, value in changes.items()}
        sent = [(name, value) for name, value in form.fields if name not in changed]
        for name, value in changed.items():
            values = value if isinstance(value, list) else [] if value is None else [value]
            sent += [(name, item) for item in values]
        return await self.send(form.action, sent, follow=follow)

    async def send(
        self, action: str, sent: list[tuple[str, str]], *, follow: bool = True, **headers: str
    ) -> httpx.Response:
        self.page = await self.client.post(
            urljoin(str(self.page.request.url), action),
            content=urlencode(sent).encode(),
            headers={"Content-Type": "application/x-www-form-urlencoded", **headers},
            follow_redirects=follow,
        )
        return self.page

    async def sign_in(self, email: str, password: str = PASSWORD, next_path: str = "") -> httpx.Response:
        await self.open(f"/sign-in?next={next_path}")
        return await self.press("Sign in", email=email, password=password)

    async def sign_in_again(self, email: str, password: str) -> httpx.Response:
        """Sign in where somebody may be signed in."""
        await self.open("/sign-in?again=1")
        return await self.press("Sign in", email=email, password=password)


async def sign_in_was_hours_ago(gateway: Gateway, tenant: Any) -> None:
    """Let the sign-ins of the tenant's user be two hours old."""
    sessions = (_credentials.c.user_id == UUID(tenant.user_id)) & (_credentials.c.kind == "us")
    async with gateway.database.write() as connection:
        earlier = now() - timedelta(hours=2)
        await connection.execute(update(_credentials).where(sessions).values(authenticated_at=earlier))


def session_of(browser: Browsing) -> str | None:
    """The browser session's token, as its cookie has it."""
    return browser.client.cookies.get("duograph_session")


@asynccontextmanager
async def browsing(gateway: Gateway, url: str = "http://gateway") -> AsyncIterator[Browsing]:
    """A browser of its own, where nobody is signed in."""
    transport = httpx.ASGITransport(gateway.app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url=url) as client:
        yield Browsing(client)


@asynccontextmanager
async def signed_in(gateway: Gateway, tenant: Any) -> AsyncIterator[Browsing]:
    """A browser in which the tenant's user, or another, has signed in: checking passwords takes its time."""
    async with browsing(gateway) as browser:
        session = await start_session(gateway, tenant.user_id)
        browser.client.cookies.set("duograph_session", session.text, domain="gateway.local")
        await browser.open("/workspaces")
        yield browser
