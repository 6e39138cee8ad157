"""Every command and document of the served pages runs, in order, and answers what the page prints."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from gateway.web.guide.contents import FOLDER, PAGES, Page
from tests.support.browsers.browsing import Browsing
from tests.support.commands.terminal import (
    ADDRESS,
    PERSONAL_TOKEN,
    ROOT,
    RUN,
    WORKSPACE_TOKEN,
    Block,
    Terminal,
    blocks,
    check,
)
from tests.support.mails.mailed import sent_to
from tests.support.measures.patience import TAKES_MINUTES
from tests.support.servers.gateways import SECRET, Tenant
from tests.support.servers.live import serve

pytestmark = TAKES_MINUTES

# Blocks that only another test can run, by the first words of their code.
RUN_ELSEWHERE = {
    "ALTER DATABASE duograph SET jit": "tests/cli/test_capacity.py",
    "SELECT citus_": "tests/cluster/same_answers.py",
    "duograph distribute": "tests/cli/test_distribute.py",
    "duograph workspaces move": "tests/cluster/moved_workspaces.py",
    "graphql-codegen --config": "tests/clients/test_generated_clients.py",
    'import { createClient } from "graphql-ws"': "tests/clients/test_live_clients.py",
    'import { createServer } from "node:http"': "tests/clients/test_webhook_receivers.py",
}
# Pages about servers and machines, which only other tests can have.
PAGES_RUN_ELSEWHERE = {
    "backup.md": "tests/cli/test_backup.py",
    "deploy.md": "tests/deploy/test_image.py",
    "monitoring.md": "tests/gateway/test_metrics_port.py",
    "moving.md": "tests/cli/test_move.py",
}
SLUG = "my-studio"
WITH_CODE = [page for page in PAGES.values() if page.file not in PAGES_RUN_ELSEWHERE and blocks(page.text)]
Act = Callable[["Reader"], Awaitable[str]]


class Reader:
    """A reader at a terminal, who also opens pages and emails where a guide says that a person does."""

    def __init__(self, address: str, tenant: Tenant, folder: Path) -> None:
        self.address, self.tenant, self.outbox = address, tenant, folder / "objects" / "outbox"
        work = folder / "work"
        work.mkdir()
        (work / "docs").symlink_to(ROOT / "docs")
        variables = {
            "DUOGRAPH": address,
            "TOKEN": tenant.token,
            "PERSONAL_TOKEN": tenant.personal_token,
            "WORKSPACE_ID": tenant.id,
            "DUOGRAPH_DATABASE_URL": f"sqlite:///{folder}/duograph.sqlite",
            "DUOGRAPH_SECRET_KEY": SECRET,
            "DUOGRAPH_OBJECT_STORE": str(folder / "objects"),
            "DUOGRAPH_BASE_URL": f"{address}/api",
        }
        placeholders = {
            WORKSPACE_TOKEN: tenant.token,
            PERSONAL_TOKEN: tenant.personal_token,
            ADDRESS: address,
            "you@example.com": tenant.user_email,
        }
        self.terminal = Terminal(work, variables, placeholders)

    async def run(self, block: Block) -> None:
        for name, act in ACTS.items():
            if re.search(rf"\${name}\b", block.code) and not self.terminal.variable(name):
                self.terminal.set(name, await act(self))
        check(block, await asyncio.to_thread(self.terminal.run, block))

    async def allow(self) -> str:
        """The code that the browser brings back when the person allows the application."""
        async with httpx.AsyncClient(base_url=self.address) as client:
            browser = Browsing(client)
            await browser.sign_in(self.tenant.user_email)
            await browser.open(self.terminal.variable("AUTHORIZE_URL"))
            answer = await browser.press("Allow", follow=False, decision="allow")
        told = parse_qs(urlsplit(answer.headers["location"]).query)
        assert told["state"] == [self.terminal.variable("STATE")]
        return told["code"][0]

    async def emailed_code(self) -> str:
        """The code in the email to the customer, which is sent a moment after it is asked for."""
        while True:
            for mail in sent_to(self.outbox, "ada@example.com"):
                if code := re.search(r"^ {4}([0-9A-Z]{6})$", mail.text, re.MULTILINE):
                    return code[1]
            await asyncio.sleep(0.1)

    async def invited_token(self) -> str:
        """A token of the person who is invited, and who has an account of her own."""
        code = (
            "echo 'a long password of hers' | duograph users create --email grace@example.com > /dev/null\n"
            "duograph tokens create --user grace@example.com | grep -o 'dg_pat_[0-9A-Za-z]*'\n"
        )
        return (await asyncio.to_thread(self.terminal.run, Block(0, "sh", code))).strip()

    async def purchase(self) -> str:
        """The customer's session with a share that has a file; also sets the file's id."""
        code = """
        head -c 1000 /dev/urandom > book.bin
        TOKEN=%s python3 docs/upload.py book.bin | sed -n 's/^file //p'
        """
        uploaded = await asyncio.to_thread(self.terminal.run, Block(0, "sh", code % self.tenant.token))
        self.terminal.set("FILE_ID", uploaded.strip())
        headers = {"Authorization": f"Bearer {self.tenant.token}"}
        async with httpx.AsyncClient(base_url=f"{self.address}/api", headers=headers) as client:
            share = {"name": "A book", "prices": [{"amount_type": "free"}], "downloads": [uploaded.strip()]}
            made = await client.post("/shares/", json=share)
            session = {
                "share_id": made.json()["id"],
                "external_customer_id": "your-id-of-the-customer",
                "file_size_bytes": 1000,
            }
            return str((await client.post("/file-share-sessions/", json=session)).json()["id"])


# What a person does in a browser or with an email, by the variable that the page uses for its outcome.
ACTS: dict[str, Act] = {
    "CODE": Reader.allow,
    "EMAILED_CODE": Reader.emailed_code,
    "INVITED_TOKEN": Reader.invited_token,
    "PURCHASE_ID": Reader.purchase,
}


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    """At a gateway of its own, with the limits of the default settings."""
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    limits = {"rate_limit": 500, "rate_limit_restricted": 60}
    with serve(url, tmp_path / "objects", workspace={"slug": SLUG, "name": "My studio"}, **limits) as served:
        reading = Reader(*served, tmp_path)
        yield reading
        reading.terminal.close()


def is_run_elsewhere(block: Block) -> bool:
    return any(block.code.startswith(words) for words in RUN_ELSEWHERE)


@pytest.mark.long
@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
async def test_every_block_of_a_page_does_what_the_page_says(reader: Reader, page: Page) -> None:
    for block in blocks(page.text):
        if not is_run_elsewhere(block):
            assert block.language in RUN, f"line {block.line}: nothing runs this"
            await reader.run(block)


def test_what_is_run_elsewhere_is_on_a_page_and_has_its_test() -> None:
    codes = [block.code for page in WITH_CODE for block in blocks(page.text)]
    for words, test in RUN_ELSEWHERE.items():
        assert any(code.startswith(words) for code in codes), words
        assert (ROOT / test).exists()
    for file, test in PAGES_RUN_ELSEWHERE.items():
        assert file in {page.file for page in PAGES.values()}
        assert (ROOT / test).exists()


def test_every_page_of_docs_is_served_or_for_developers_of_duograph() -> None:
    names = ("architecture", "asvs", "data-classes", "faults", "metrics-internals", "performance", "threats")
    for_developers = {f"{name}.md" for name in names}
    files = {str(file.relative_to(FOLDER)) for file in [*FOLDER.glob("*.md"), *FOLDER.glob("guide/*.md")]}
    assert files == {page.file for page in PAGES.values()} | for_developers
