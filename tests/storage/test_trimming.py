"""What a workspace has beyond a number of rows goes, the oldest first, in portions of a bounded size."""

from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from storage.clock import now
from storage.engine.database import Database
from storage.retention import trimming
from storage.retention.trimming import BOUNDS, trim
from storage.tables.changes import ChangeRow
from storage.tables.webhooks.deliveries import WebhookAttemptRow
from tests.support.databases.ended_rows import Rows
from tests.support.databases.own_databases import own_database

FEW = {bound.model: replace(bound, most=2) for bound in BOUNDS}


@pytest_asyncio.fixture
async def rows(database_url, tmp_path):
    database = Database(await own_database(database_url, tmp_path))
    yield await Rows(database).begin()
    await database.close()


async def added(rows, model, **columns):
    """The keys of new rows of one workspace, whose columns have these values."""
    home = rows.workspaces[0]
    several = [dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True)]
    return [await rows.add(model, workspace_id=home, **values) for values in several]


async def test_a_pass_is_bounded_and_says_that_there_is_more(rows, monkeypatch):
    monkeypatch.setattr(trimming, "ROWS_AT_A_TIME", 2)
    monkeypatch.setattr(trimming, "PORTIONS_AT_A_TIME", 2)
    moments = [now() + timedelta(seconds=number) for number in range(9)]
    keys = await added(rows, WebhookAttemptRow, created_at=moments)
    left = []
    while await trim(rows.database, [FEW[WebhookAttemptRow]]):
        left.append(await rows.keys(WebhookAttemptRow))
    assert left == [set(keys[4:])]
    assert await rows.keys(WebhookAttemptRow) == set(keys[-2:])


async def test_rows_of_the_moment_of_the_oldest_that_stays_stay_too(rows):
    moment = now()
    keys = await added(rows, WebhookAttemptRow, created_at=[moment] * 4)
    assert not await trim(rows.database, [FEW[WebhookAttemptRow]])
    assert await rows.keys(WebhookAttemptRow) == set(keys)


# SQLite numbers changes at once.
@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
@pytest.mark.parametrize("positions", [[None] * 3, [10**9, None, None]], ids=["none", "too few"])
async def test_changes_without_their_numbers_push_out_no_others(rows, positions):
    keys = await added(rows, ChangeRow, position=positions, at=[now()] * 3)
    assert not await trim(rows.database, [FEW[ChangeRow]])
    assert await rows.keys(ChangeRow) >= set(keys)
