"""All faults, in the order of the table."""

from collections.abc import Iterator

from tests.faults import network, nodes, processes, scarcity, services, telling
from tests.faults.stage import Fault

FAULTS: tuple[type[Fault], ...] = (
    processes.KilledWorker,
    processes.KilledGateway,
    processes.StoppedPostgreSQL,
    processes.CrashedPostgreSQL,
    processes.KilledPostgreSQL,
    processes.FrozenPostgreSQL,
    processes.TerminatedConnections,
    network.CutConnections,
    network.UnreachableDatabase,
    network.SlowNetwork,
    network.CommitNeverArrives,
    network.CommitUnanswered,
    network.CommitArrivesLate,
    scarcity.FullDisk,
    scarcity.ExhaustedPool,
    services.StoppedRedis,
    services.FrozenRedis,
    services.StoppedReplica,
    services.StoppedStore,
    services.SlowStore,
    services.JumpingClock,
    telling.KilledSender,
    telling.FailingReceivers,
    telling.JumpingClockOfSender,
    nodes.KilledCoordinator,
    nodes.HungNode,
    nodes.KilledNode,
    nodes.MovedWorkspace,
)


def cases() -> Iterator[tuple[type[Fault], str]]:
    """Each fault with each database that it can befall."""
    for fault in FAULTS:
        for database in fault.databases:
            yield fault, database
