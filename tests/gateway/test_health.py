"""Whether the gateway lives and can work."""

from pathlib import Path

import pytest
from sqlalchemy import text

from storage.migrations.revisions import newest_revision
from tests.support.servers.gateways import Gateway, run_gateway

pytestmark = pytest.mark.both_databases


async def test_a_gateway_over_a_migrated_database_lives_and_is_ready(gateway: Gateway) -> None:
    alive = await gateway.client.get("/health")
    assert (alive.status_code, alive.json()) == (200, {"status": "ok"})
    ready = await gateway.client.get("/ready")
    assert (ready.status_code, ready.json()) == (200, {"status": "ok", "revision": newest_revision()})


async def test_a_database_at_an_earlier_revision_is_not_ready(tmp_path: Path) -> None:
    async for gateway in run_gateway(f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite", tmp_path):
        async with gateway.database.write() as connection:
            await connection.execute(text("UPDATE alembic_version SET version_num = '0001'"))
        answer = await gateway.client.get("/ready")
        assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
        assert answer.json()["detail"] == (
            f"The database is at revision 0001, not at {newest_revision()}: run `duograph migrate`."
        )


async def test_a_database_that_a_newer_version_has_migrated_is_ready(tmp_path: Path) -> None:
    """Otherwise no process would be, from the migration until the newer version serves."""
    async for gateway in run_gateway(f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite", tmp_path):
        async with gateway.database.write() as connection:
            await connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        assert (await gateway.client.get("/ready")).status_code == 200


async def test_a_database_that_went_away_is_not_ready_but_the_gateway_lives(tmp_path: Path) -> None:
    file = tmp_path / "database" / "duograph.sqlite"
    file.parent.mkdir()
    async for gateway in run_gateway(f"sqlite+aiosqlite:///{file}", tmp_path):
        await gateway.database.close()
        file.parent.rename(tmp_path / "moved")
        answer = await gateway.client.get("/ready")
        assert (answer.status_code, answer.json()["detail"]) == (503, "The database does not answer.")
        assert (await gateway.client.get("/health")).status_code == 200
