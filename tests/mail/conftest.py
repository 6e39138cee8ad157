"""A database with mails that only the test sends, and real mail servers."""

import json
from email.headerregistry import Address
from typing import Any

import pytest
import pytest_asyncio
from sqlalchemy import delete, select, update

from gateway.mail import smtp
from gateway.mail.delivery import Delivery
from gateway.mail.smtp import SmtpTransport
from gateway.settings.values.mail_addresses import SmtpAddress
from oauth.revocation import signed_reports
from storage.clock import now
from storage.engine.database import Database
from storage.queues.mails import MAILS, Mail, write_mail
from storage.rows.rows import table_of
from storage.tables.mails import MailRow
from tests.mail.scanning import PATH
from tests.support.databases.own_databases import own_database
from tests.support.measures.patience import PATIENCE_SECONDS
from tests.support.servers.gateways import run_gateway
from tests.support.servers.mail_server import HOST, MailServer
from tests.support.servers.report_keys import serve_keys

SENDER = Address("Duograph", addr_spec="duograph@example.com")
_mails = table_of(MailRow)


class Post:
    """Mails of one database, and deliveries as the processes of a gateway have them."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def write(self, to: str = "ada@example.com", subject: str = "Hello", **values: Any) -> None:
        async with self.database.write() as connection:
            await write_mail(connection, Mail(to, subject, **{"text": "Good morning", **values}))

    async def claim(self) -> dict | None:
        async with self.database.write() as connection:
            return next(iter(await MAILS.claim(connection)), None)

    async def rows(self) -> list[dict]:
        async with self.database.read() as connection:
            found = await connection.execute(select(_mails).order_by(_mails.c.created_at))
            return [dict(row) for row in found.mappings()]

    async def change(self, **values) -> None:
        """Change every row, as if time had passed."""
        async with self.database.write() as connection:
            await connection.execute(update(_mails).values(**values))

    async def make_due(self) -> None:
        await self.change(due_at=now())

    def delivery(
        self,
        server: MailServer,
        scheme: str = "smtp",
        user: str = "",
        per_minute: int = 1000,
        **monitored: Any,
    ) -> Delivery:
        address = SmtpAddress.parse(f"{scheme}://{user}{HOST}:{server.port}")
        return Delivery(self.database, SmtpTransport(address, per_minute), SENDER, **monitored)


@pytest.fixture(autouse=True)
def servers_take_their_time(monkeypatch):
    """However busy the machine is, no server of mails or keys is given up."""
    for module in (smtp, signed_reports):
        monkeypatch.setattr(module, "PATIENCE_SECONDS", PATIENCE_SECONDS)


@pytest_asyncio.fixture(scope="session")
async def mail_database(database_url, tmp_path_factory):
    database = Database(await own_database(database_url, tmp_path_factory.mktemp("mail")))
    yield database
    await database.close()


@pytest_asyncio.fixture
async def own_database_url(database_url, tmp_path):
    """A new database on the same engine; no other gateway takes its mails."""
    return await own_database(database_url, tmp_path)


@pytest_asyncio.fixture
async def post(mail_database):
    async with mail_database.write() as connection:
        await connection.execute(delete(_mails))
    return Post(mail_database)


@pytest_asyncio.fixture
async def server():
    running = await MailServer().start()
    yield running
    await running.stop()


@pytest.fixture
def keys():
    with serve_keys() as served:
        yield served


@pytest_asyncio.fixture
async def scanned(database_url, keys, tmp_path):
    """A gateway that trusts the keys of `keys`."""
    async for gateway in run_gateway(database_url, tmp_path, secret_scanning_keys_url=keys.url):
        yield gateway


@pytest.fixture
def report(scanned, keys):
    """Send finds as GitHub does; `headers` and `body` replace what would be right."""
    name = keys.add_key()

    async def send(*finds, body=None, headers=None, key=name):
        content = json.dumps(finds).encode() if body is None else body
        sent = keys.sign(key, content) if headers is None else headers
        return await scanned.client.post(PATH, content=content, headers=sent)

    return send
