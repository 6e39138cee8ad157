"""The warnings of `duograph doctor` about PostgreSQL's connections and settings."""

from uuid import uuid4

import asyncpg

from gateway.cli.upkeep.capacity import warnings_of_servers
from gateway.settings.settings import Settings
from tests.support.servers.pooler import pooler


async def warnings(workers: int, **values):
    return [warning async for warning in warnings_of_servers(Settings(**values), workers)]


async def test_a_server_with_fewer_connections_than_the_processes_may_open(server_url):
    direct = {"database_url": server_url, "database_pooler": None}
    assert await warnings(18, **direct) == []
    ((topic, sentence),) = await warnings(19, **direct)
    assert topic == "database"
    assert sentence.startswith("19 processes may open 418 connections, and the server takes 397: ")
    replica = await warnings(4, **direct, database_read_url=server_url, database_pool_size=100)
    assert [topic for topic, _ in replica] == ["database", "read replica"]


async def test_a_database_behind_a_pooler_needs_settings_of_its_own(server_url):
    name = f"capacity_{uuid4().hex}"
    server = await asyncpg.connect(server_url.replace("+asyncpg", ""))
    await server.execute(f"CREATE DATABASE {name}")
    with pooler(server_url, 2) as url:
        pooled = {"database_url": url.replace("/postgres?", f"/{name}?", 1), "database_pooler": "transaction"}
        ((_, sentence),) = await warnings(100, **pooled)
        commands = sentence.partition(" run ")[2].removesuffix(".")
        assert commands.count("ALTER DATABASE") == 3
        await server.execute(commands)
    await server.close()
    # Settings of a database hold for connections that are opened later.
    with pooler(server_url, 2) as url:
        pooled["database_url"] = url.replace("/postgres?", f"/{name}?", 1)
        assert await warnings(100, **pooled) == []


async def test_sqlite_has_nothing_to_compare(tmp_path):
    assert await warnings(100, database_url=f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite") == []
