"""The guides at /docs/guide: pages, their markdown, search, and /llms.txt. They are the same for everyone."""

import asyncio
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.rate_limits.charging import charged
from gateway.web.guide.contents import (
    FILES,
    FOLDER,
    GUIDE_PATH,
    PAGES,
    SECTIONS,
    Addresses,
    Page,
    llms_text,
    neighbours,
)
from gateway.web.guide.feed import ATOM, feed
from gateway.web.guide.feed import NAME as FEED_NAME
from gateway.web.guide.search import LONGEST_QUESTION, search, sections
from gateway.web.kit.html import html_page
from resolvers.operations.answers import JSON
from resolvers.operations.http.etags import matches_weakly
from schema.kit.base import entity_tag

LLMS_PATH = "/llms.txt"
INDEX_NAME = "search.json"
MARKDOWN = "text/markdown; charset=utf-8"
TEXT = "text/plain; charset=utf-8"
# A new version of the gateway may change them; the tag then differs.
_KEEP = "public, max-age=300"


class Guide:
    """The pages, with the gateway's addresses in their commands. Each is rendered when it is first read."""

    def __init__(self, addresses: Addresses) -> None:
        self._addresses = addresses
        self._kept: dict[str, Response] = {}

    def routes(self) -> list[Route]:
        return [
            Route(GUIDE_PATH, charged(self._start), name="guide"),
            Route(f"{GUIDE_PATH}/{{name}}", self._page, name="guide_page"),
            Route(LLMS_PATH, charged(self._llms), name="llms"),
        ]

    async def _start(self, request: Request) -> Response:
        question = request.query_params.get("q")
        if question is not None:
            question = question[:LONGEST_QUESTION]
            response = self._html("guide_search.html", question=question, results=search(question))
            response.headers["Cache-Control"] = "no-cache"
            return response
        return await self._answer(request, "", lambda: self._html("guide_start.html"))

    async def _page(self, request: Request) -> Response:
        name = request.path_params["name"]
        make = self._maker(name)
        if make is None:
            raise HTTPException(404)

        async def answer(request: Request) -> Response:
            return await self._answer(request, name, make)

        return await charged(answer)(request)

    async def _llms(self, request: Request) -> Response:
        return await self._answer(
            request, LLMS_PATH, lambda: Response(llms_text(self._addresses), media_type=TEXT)
        )

    def _maker(self, name: str) -> Callable[[], Response] | None:
        """What makes the answer to that name below /docs/guide, if there is one."""
        if name in PAGES:
            return lambda: self._rendered(PAGES[name])
        if name.endswith(".md") and name[:-3] in PAGES:
            page = PAGES[name[:-3]]
            return lambda: Response(page.served_markdown(self._addresses), media_type=MARKDOWN)
        if name == INDEX_NAME:
            return lambda: Response(
                orjson.dumps([asdict(section) for section in sections()]), media_type=JSON
            )
        if name == FEED_NAME:
            return lambda: Response(feed(self._addresses), headers={"Content-Type": ATOM})
        file = next((file for file in FILES if file.rpartition("/")[2] == name), None)
        return None if file is None else lambda: self._file(file)

    def _rendered(self, page: Page) -> Response:
        from gateway.web.guide.rendering import render  # noqa: PLC0415

        before, after = neighbours(page)
        text = render(page, self._addresses.written_into)
        feed_path = f"{GUIDE_PATH}/{FEED_NAME}" if page.name == "changelog" else None
        return self._html("guide_page.html", page=page, text=text, before=before, after=after, feed=feed_path)

    def _file(self, file: str) -> Response:
        content = self._addresses.written_into((FOLDER / file).read_text("utf-8"))
        return Response(content, media_type=FILES[file])

    def _html(self, template: str, **values: Any) -> Response:
        values = {"page": None, **values}
        return html_page(
            template, here=GUIDE_PATH, sections=SECTIONS, index_path=f"{GUIDE_PATH}/{INDEX_NAME}", **values
        )

    async def _answer(self, request: Request, name: str, make: Callable[[], Response]) -> Response:
        """What was kept under the name, or is made now, in a thread, and kept."""
        if name not in self._kept:
            made = await asyncio.to_thread(make)
            made.headers["Cache-Control"] = _KEEP
            made.headers["ETag"] = entity_tag(bytes(made.body))
            self._kept[name] = made
        kept = self._kept[name]
        if matches_weakly(request.headers.get("if-none-match", ""), kept.headers["ETag"]):
            return Response(status_code=304, headers={"ETag": kept.headers["ETag"], "Cache-Control": _KEEP})
        return Response(kept.body, headers=dict(kept.headers))
