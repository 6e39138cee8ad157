"""Moments on pages, in the zone of the page: the workspace's, and UTC where there is none."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from markupsafe import Markup
from starlette.requests import Request

from schema.values.prose import write_short_moment
from storage.metrics.zones import in_zone

DEFAULT_ZONE = "UTC"
# Of the page that is being rendered; None where it belongs to no workspace.
_zone: ContextVar[str | None] = ContextVar("zone", default=None)


@contextmanager
def shown_in(zone: str | None) -> Iterator[None]:
    """Write the moments of a page in this zone, which the page names once."""
    token = _zone.set(zone)
    try:
        yield
    finally:
        _zone.reset(token)


def zone_of(request: Request) -> str | None:
    """The zone of a page: the one that its `workspace_of` found; None if it has none."""
    zone: str | None = getattr(request.state, "zone", None)
    return zone


def write_moment(at: datetime) -> Markup:
    """A date and time as HTML; without a zone of the page in UTC, for a script to write in the reader's."""
    zone, utc = _zone.get(), f"{write_short_moment(at.astimezone(UTC))} UTC"
    if zone is None:
        return Markup('<time datetime="{}" data-local>{}</time>').format(at.isoformat(), utc)
    here = write_short_moment(in_zone(at, zone))
    return Markup('<time datetime="{}" title="{}">{}</time>').format(at.isoformat(), utc, here)
