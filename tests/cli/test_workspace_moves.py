"""`duograph workspaces move`: what it says. `tests/cluster/moved_workspaces.py` moves some."""

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy.exc import DBAPIError

from gateway.cli.administration import moving
from storage.cluster.moving import Progress
from tests.support.commands.command import Command

WAITS_FOR = ["the process 7 of the node with the id 2", "the process 9 of the node with the id 3"]


def step(name: str, copied: int, before_it: Sequence[str] = (), behind_it: int = 0) -> Progress:
    return Progress(name, 1_000, copied, before_it, behind_it)


class Scripted:
    """In place of a mover, which needs a cluster: how far it is, each time that it is asked."""

    def __init__(self, *answers: Progress | Exception | None) -> None:
        self.answers, self.asked_enough = list(answers), asyncio.Event()

    async def progress(self) -> Progress | None:
        if not self.answers:
            self.asked_enough.set()
            await asyncio.Event().wait()
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


@pytest.mark.parametrize("quiet", [False, True])
async def test_each_step_is_told_once_and_what_cannot_be_told_stops_nothing(
    quiet: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(moving, "SECONDS_BETWEEN_LOOKS", 0)
    mover = Scripted(
        None,
        step("Setting Up", 0),
        step("Copying Data", 400),
        DBAPIError("a statement", {}, Exception()),
        step("Copying Data", 700),
        step("Final Catchup", 1_200, WAITS_FOR, 1),
        step("Final Catchup", 1_200, behind_it=3),
    )
    reported: list[tuple[str, int, int]] = []
    telling = asyncio.create_task(moving._watch(mover, lambda *told: reported.append(told), quiet=quiet))
    await mover.asked_enough.wait()
    telling.cancel()
    # What is written meanwhile makes the copy larger than what was there at first.
    assert reported == [("Bytes copied", done, 1_000) for done in (0, 400, 700, 1_000, 1_000)]
    lines = [
        "Setting Up",
        "Copying Data",
        f"Final Catchup; waits for {', '.join(WAITS_FOR)}; 1 statement waits for it",
        "Final Catchup; 3 statements wait for it",
    ]
    assert capsys.readouterr().err.splitlines() == ([] if quiet else lines)


@pytest.mark.parametrize(
    ("others", "text"),
    [
        (0, "acme"),
        (1, "acme and 1 other workspace of its shard"),
        (1_234, "acme and 1,234 other workspaces of its shard"),
    ],
)
def test_other_workspaces_of_the_shard_are_counted(others: int, text: str) -> None:
    assert moving._what("acme", others) == text


def test_a_move_through_a_pooler_is_refused_before_it_connects(empty: Command) -> None:
    pooled = {
        "DUOGRAPH_DATABASE_URL": "postgresql://ada@127.0.0.1:1/duograph",
        "DUOGRAPH_DATABASE_POOLER": "transaction",
    }
    said = empty.refusal("workspaces", "move", "acme", "worker-2", **pooled)
    assert said.startswith("A move needs a connection to the coordinator itself")
