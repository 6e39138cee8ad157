"""A share of the faults, with a fixed seed; `make faults` lets all of them befall the gateway."""

import pytest

from bench.kit.report import renewed
from tests.faults import network, processes, telling
from tests.faults.killed import run_killed
from tests.faults.stage import POSTGRESQL, SQLITE, run
from tests.support.measures.patience import TAKES_MINUTES

# The writers give up first, and say what they were answered.
pytestmark = TAKES_MINUTES
SEED = 10
SHARE = [
    (telling.KilledSenderInShort, SQLITE),
    (processes.KilledGateway, SQLITE),
    (processes.KilledGateway, POSTGRESQL),
    (processes.StoppedPostgreSQL, POSTGRESQL),
    (network.CommitUnanswered, POSTGRESQL),
]


@pytest.mark.long
@pytest.mark.parametrize(("fault", "database"), SHARE, ids=[f"{fault.__name__}-{on}" for fault, on in SHARE])
async def test_nothing_acknowledged_is_lost_and_nothing_is_done_twice(fault, database):
    outcome = await run(fault(), database, SEED)
    assert outcome.faults() == []
    assert outcome.acknowledged == outcome.tried > 0


@pytest.mark.long
@pytest.mark.parametrize(("work", "database", "kills"), [("migration", SQLITE, 3), ("fold", POSTGRESQL, 4)])
async def test_what_was_killed_at_a_statement_is_finished_by_the_next_process(work, database, kills):
    outcome = await run_killed(work, database, SEED, kills)
    assert outcome.faults() == []
    assert outcome.acknowledged == kills


def test_a_table_of_the_page_is_written_anew():
    page = "before\n<!-- make load -->\nold\n<!-- end -->\nafter\n"
    written = "before\n<!-- make load -->\n\nnew\n\n<!-- end -->\nafter\n"
    assert renewed(page, "<!-- make load -->", "new") == written
