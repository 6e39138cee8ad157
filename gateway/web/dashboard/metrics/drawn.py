"""What the page shows of a metric: a chart with what stands around it, and a headline number."""

from dataclasses import dataclass

from markupsafe import Markup

from gateway.web.dashboard.metrics.changes import Change


@dataclass(frozen=True)
class Card:
    """A chart with what stands around it.

    `values` are those of its periods as people read them, between separators, `before` those of the
    compared range, and `changes` how they differ. `page` is the address of its page, which has its table and
    the call behind it; `rows` that of a list of what it counts, for dates that are added.
    """

    slug: str
    name: str
    description: str
    total: str
    change: Change | None
    drawing: Markup
    values: str
    before: str
    changes: str
    csv: str
    page: str
    rows: str | None


@dataclass(frozen=True)
class Tab:
    """A headline number over the large chart; `address` is the query that shows its chart."""

    slug: str
    name: str
    description: str
    total: str
    change: Change | None
    address: str
