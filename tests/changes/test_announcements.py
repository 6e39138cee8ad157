"""What a process tells the others of its commits: nothing while none of them listens."""

from pathlib import Path
from uuid import UUID, uuid4

import pytest

from storage.changes import announcements
from storage.changes.announcements import Announcements, PostgresqlChannel
from storage.changes.followers import Followers
from storage.engine.database import Database
from tests.support.databases.own_databases import own_database
from tests.support.measures.patience import until
from tests.support.servers.pooler import every_test_is_pooled


async def test_nobody_is_told_until_somebody_listens(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if every_test_is_pooled():
        pytest.skip("Behind a pooler nothing is heard.")
    database, woken = Database(await own_database(postgresql_url, tmp_path)), []
    here, there = PostgresqlChannel(database), PostgresqlChannel(database)
    heard: list[str] = []

    async def first() -> str:
        return heard[0] if heard else ""

    async def tell(own: Announcements, workspace_id: UUID) -> None:
        own.note([workspace_id])
        await own.run()

    monkeypatch.setattr(announcements, "SECONDS_UNHEARD", 3600)
    unheard = Announcements(here, Followers(), database, lambda: woken.append(True))
    await tell(unheard, uuid4())
    # What is committed within an hour of that does not even wake the task.
    await tell(unheard, uuid4())
    assert woken == [True]

    await there.open(heard.append)
    told = uuid4()
    await tell(Announcements(here, Followers(), database, lambda: None), told)
    assert (await until(first)).split(" ")[1:] == [told.hex]
    await there.close()

    async def is_alone() -> bool:
        return not await here.send("")

    await until(is_alone)
    await database.close()
