"""Quotas of rows: how many of each kind a workspace may have, and their bytes, by totals that are kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic
from types import MappingProxyType
from uuid import UUID

from schema.errors import NotPermitted
from storage.engine.connections import Connection
from storage.totals.kinds import growth, measured_kind, usage_of_kind

# A process adds up to this part of what is left before it looks at the total again, which others add to.
PART = 100
SECONDS_BETWEEN_LOOKS = 60
MOST_REMEMBERED = 10_000
# Kinds that their owners can delete.
_DELETABLE = frozenset({"customers", "members", "custom_fields", "files"})
# What makes room for texts and metadata. Events stay, and so do deleted customers that are not anonymized.
_SHORTER = {
    "customers": "shorten metadata, or anonymize customers as you delete them, or ",
    "custom_fields": "shorten or delete some, or ",
    "shares": "shorten some, or ",
}


@dataclass(frozen=True)
class Quota:
    """A workspace's default limits for stored bytes and open uploads; 0 for no limit."""

    stored_bytes: int = 0
    open_uploads: int = 0


class RowQuotas:
    """The quotas of a process: `defaults` by kind, 0 for no limit, unless a workspace has its own.

    Those of bytes are under `bytes_of` the kind.
    """

    def __init__(self, defaults: Mapping[str, int] = MappingProxyType({})) -> None:
        self.defaults = defaults
        # How many rows may be added without another look, and until when.
        self._room: dict[tuple[UUID, str], tuple[float, float]] = {}

    async def check(self, connection: Connection) -> None:
        """Compare what the transaction adds with the quotas. Raises `NotPermitted`."""
        for (workspace_id, kind), many in growth(connection).items():
            room, until = self._room.get((workspace_id, kind), (0.0, 0.0))
            if many > room or monotonic() > until:
                room = await self._look(connection, workspace_id, kind, many)
                until = monotonic() + SECONDS_BETWEEN_LOOKS
                if len(self._room) >= MOST_REMEMBERED:
                    self._room.clear()
            self._room[workspace_id, kind] = (room - many, until)

    async def _look(self, connection: Connection, workspace_id: UUID, kind: str, many: int) -> float:
        """How many rows may be added without another look. Raises `NotPermitted` if these do not fit."""
        used, own = await usage_of_kind(connection, workspace_id, kind)
        most = own.get(kind, self.defaults.get(kind, 0))
        if most and used + many > most:
            raise NotPermitted(_refusal(kind, used, most, many))
        return (most - used) / PART if most else float("inf")


def _refusal(kind: str, used: int, most: int, many: int) -> str:
    measured = measured_kind(kind)
    if measured is not None:
        return (
            f"The texts and metadata of the workspace's {measured.replace('_', ' ')} have {used:,} "
            f"of at most {most:,} bytes, and this adds {many:,}: "
            f"{_SHORTER.get(measured, '')}ask the operator for a higher limit."
        )
    name = kind.replace("_", " ")
    delete = "delete some, or " if kind in _DELETABLE else ""
    added = "another" if many == 1 else f"{many:,} more"
    return (
        f"The workspace has {used:,} of at most {most:,} {name}, and this adds {added}: "
        f"{delete}ask the operator for a higher limit."
    )
