"""The first start: what it prints stays, and its link leads to everything, signed in."""

import asyncio
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.cli.demo.entry import Entry
from gateway.cli.serving.announcement import Announcement
from gateway.settings.settings import Settings
from gateway.web.entrance.demo import LINK_SECONDS, DemoEntrance
from storage.engine.database import Database
from storage.migrations.revisions import current_revision, newest_revision
from storage.migrations.run import upgrade
from tests.support.browsers.browsing import Reading
from tests.support.commands.command import Command
from tests.support.commands.serving import serving
from tests.support.measures.spans import Span, span

PATH = "/sign-in/demo"


@dataclass(frozen=True)
class FirstStart:
    """What a first start printed, when it was, and the directory that it left."""

    said: dict[str, Any]
    moment: Span
    directory: Path


@pytest.fixture(scope="session")
def first_start(tmp_path_factory: pytest.TempPathFactory) -> FirstStart:
    command = Command(tmp_path_factory.mktemp("demo"))
    with span() as moment, serving(command, "--demo") as said:
        pass
    return FirstStart(said["demo"], moment, command.directory)


@pytest.fixture
def started(first_start: FirstStart, tmp_path: Path) -> Command:
    """A command where the demo was started once."""
    shutil.copytree(first_start.directory / "var", tmp_path / "var")
    return Command(tmp_path)


@contextmanager
def browser(said: dict[str, Any]) -> Iterator[httpx.Client]:
    url, headers = said["url"], {"Accept": "text/html"}
    with httpx.Client(base_url=url, headers=headers, follow_redirects=True) as client:
        yield client


def file_of(command: Command) -> Path:
    return command.directory / "var" / "duograph.sqlite"


def form_of(page: httpx.Response, action: str) -> dict[str, str]:
    (form,) = (form for form in Reading(page.text).forms if form.action == action)
    return dict(form.fields)


def test_the_printed_link_signs_one_browser_in_and_all_pages_are_one_click_away(started: Command) -> None:
    with serving(started, "--demo") as said:
        link = said["demo"]["link"]
        assert link.startswith(f"{said['url']}{PATH}?code=")
        with browser(said) as first, browser(said) as second:
            assert first.head(link).url.path == "/sign-in"  # A scan of links leaves it as it is.
            dashboard = first.get(link)
            assert dashboard.url.path == "/demo/dashboard"
            assert "demo@example.com" in dashboard.text
            assert {"/", "/graphql", "/docs", "/docs/guide"} <= set(Reading(dashboard.text).links)
            assert [first.get(path).url.path for path in ("/", "/dashboard")] == ["/demo/dashboard"] * 2
            assert [first.get(path).status_code for path in ("/graphql", "/docs")] == [200, 200]

            refused = second.get(link)
            assert refused.url.path == "/sign-in"
            assert "This link has been used or has expired." in refused.text
            portal = second.get("/")
            assert "/demo/portal" in Reading(portal.text).links
    assert re.search(r"code=\S", (started.directory / "log").read_text()) is None


def test_the_link_works_once_in_all_processes_together(started: Command) -> None:
    with serving(started, "--demo", "--workers", "2") as said:
        ends = []
        for _ in range(6):
            with browser(said) as client:
                ends.append(client.get(said["demo"]["link"]).url.path)
        with browser(said) as client:
            client.get(PATH, params={"code": "a guess"})
            assert client.get("/dashboard").url.path == "/sign-in"
    assert ends == ["/demo/dashboard", *["/sign-in"] * 5]


def test_a_second_factor_of_the_demo_user_is_still_asked_for(started: Command) -> None:
    with closing(sqlite3.connect(file_of(started))) as database, database:
        database.execute(
            "INSERT INTO totp_secrets (created_at, user_id, sealed, last_step)"
            " SELECT created_at, id, '', 0 FROM users WHERE email = 'demo@example.com'"
        )
    with serving(started, "--demo") as said, browser(said) as client:
        assert client.get(said["demo"]["link"]).url.path == "/sign-in/second-step"


@pytest.mark.parametrize(("seconds", "works"), [(LINK_SECONDS - 1, True), (LINK_SECONDS, False)])
def test_the_link_ends_after_an_hour(monkeypatch: pytest.MonkeyPatch, seconds: int, works: bool) -> None:
    clock = f"{DemoEntrance.__module__}.monotonic"
    monkeypatch.setattr(clock, lambda: 1000.0)
    entrance = DemoEntrance("demo@example.com", "a password", "demo")
    monkeypatch.setattr(clock, lambda: 1000.0 + seconds)
    assert not entrance.claim("a guess")
    assert entrance.claim(entrance.link.partition("code=")[2]) is works


def test_without_the_demo_user_only_the_token_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    entry = Entry("dg_wat_token", datetime(2030, 1, 2, tzinfo=UTC), "demo@example.com", None)
    Announcement("http://localhost:8000", Settings(), entry, None).show(as_json=False)
    _, *lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["", "A token for the workspace demo, until 2030-01-02:", "dg_wat_token"]


@pytest.mark.parametrize(
    ("arguments", "settings"),
    [
        (("--host", "0.0.0.0"), {}),
        ((), {"DUOGRAPH_BASE_URL": "https://shop.example.com/api"}),
    ],
    ids=["other machines can connect", "behind a proxy"],
)
def test_where_others_could_follow_a_link_there_is_none(
    started: Command, arguments: tuple[str, ...], settings: dict[str, str]
) -> None:
    with serving(started, "--demo", *arguments, **settings) as said:
        assert said["demo"]["link"] is None
        assert httpx.get(said["url"] + PATH, headers={"Accept": "text/html"}).status_code == 404


def test_password_token_and_session_survive_a_restart(started: Command, first_start: FirstStart) -> None:
    with serving(started, "--demo") as said, browser(said) as client:
        for name in ("user", "workspace_token", "expires_at"):
            assert said["demo"][name] == first_start.said[name]
        fields = form_of(client.get("/sign-in"), "/sign-in") | said["demo"]["user"]
        assert client.post("/sign-in", data=fields).url.path == "/demo/dashboard"
        cookies = dict(client.cookies)
    with serving(started, "--demo") as said:
        assert httpx.get(said["url"] + "/account", cookies=cookies).status_code == 200
    (token,) = started.json("tokens", "list")["tokens"]
    assert token["workspace"] == "demo"
    assert datetime.fromisoformat(first_start.said["expires_at"]) in first_start.moment + timedelta(days=30)


def test_a_token_is_replaced_only_when_it_is_revoked_or_ends_soon(
    started: Command, first_start: FirstStart
) -> None:
    tokens = [first_start.said["workspace_token"]]
    started.json("tokens", "revoke", tokens[0])
    with serving(started, "--demo") as said:
        tokens.append(said["demo"]["workspace_token"])
    soon = (datetime.now(UTC) + timedelta(days=6)).strftime("%Y-%m-%d %H:%M:%S.%f")
    with closing(sqlite3.connect(file_of(started))) as database, database:
        database.execute("UPDATE credentials SET expires_at = ?", (soon,))
    with serving(started, "--demo") as said:
        tokens.append(said["demo"]["workspace_token"])
        answer = httpx.get(said["base_url"] + "/viewer", headers={"Authorization": f"Bearer {tokens[2]}"})
        assert answer.json()["expires_at"] == said["demo"]["expires_at"]
    assert len(set(tokens)) == 3


def test_another_secret_key_gives_other_credentials(started: Command, first_start: FirstStart) -> None:
    with serving(started, "--demo", DUOGRAPH_SECRET_KEY="Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA") as said:
        assert said["demo"]["user"]["password"] != first_start.said["user"]["password"]
        assert said["demo"]["workspace_token"] != first_start.said["workspace_token"]
        with browser(said) as client:
            assert client.get(said["demo"]["link"]).url.path == "/demo/dashboard"


def test_a_start_after_an_update_migrates_the_database(empty: Command) -> None:
    """`make run` after `git pull`: a file of the version before is brought up to date."""

    async def make() -> str | None:
        database = Database(f"sqlite+aiosqlite:///{file_of(empty)}")
        await upgrade(database, before)
        revision = await current_revision(database)
        await database.close()
        return revision

    before = f"{int(newest_revision()) - 1:04}"
    file_of(empty).parent.mkdir()
    assert asyncio.run(make()) == before
    with serving(empty) as said:
        assert httpx.get(said["url"] + "/ready").json() == {"status": "ok", "revision": newest_revision()}
