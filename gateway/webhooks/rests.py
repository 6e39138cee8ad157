"""Endpoints that a process leaves alone for some seconds."""

from time import monotonic
from uuid import UUID

from storage.queues.webhooks import EndpointKey


class Rests:
    """The endpoints that rest, in this process."""

    def __init__(self) -> None:
        self._until: dict[EndpointKey, float] = {}

    def begin(self, key: EndpointKey, seconds: float) -> None:
        """Leave the endpoint alone from now on."""
        self._until[key] = monotonic() + seconds

    def end(self, key: EndpointKey) -> bool:
        """It has rested enough; returns whether it did."""
        return self._until.pop(key, None) is not None

    def ids(self) -> list[UUID]:
        """Those that rest now."""
        present = monotonic()
        self._until = {key: until for key, until in self._until.items() if until > present}
        return [key.id for key in self._until]
