"""A gateway that runs forgets by itself what it kept for retries."""

from datetime import timedelta

from sqlalchemy import func, select

from storage.clock import now
from storage.engine.database import Database
from storage.migrations.run import upgrade
from storage.rows.rows import insert_row, table_of
from storage.tables.credentials.refresh_answers import RefreshAnswerRow
from storage.tables.idempotency_keys import IdempotencyKeyRow
from tests.support.measures.patience import until
from tests.support.servers.gateways import run_gateway

MODELS = (IdempotencyKeyRow, RefreshAnswerRow)


async def count(database):
    async with database.read() as connection:
        return [
            (await connection.execute(select(func.count()).select_from(table_of(model)))).scalar_one()
            for model in MODELS
        ]


async def test_expired_secrets_do_not_stay_in_the_database(tmp_path):
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    database = Database(url)
    await upgrade(database)
    async with database.write() as connection:
        for age in (timedelta(), timedelta(hours=25)):
            kept = {"subject": "a", "operation": "b", "key": str(age), "digest": "c", "sealed": "d"}
            await insert_row(connection, IdempotencyKeyRow, created_at=now() - age, **kept)
            expires_at = now() - age + timedelta(hours=1)
            await insert_row(connection, RefreshAnswerRow, hash=str(age), expires_at=expires_at, sealed="d")
    assert await count(database) == [2, 2]

    async def is_forgotten():
        return await count(database) == [1, 1]

    async for _ in run_gateway(url, tmp_path):
        await until(is_forgotten)
    await database.close()
