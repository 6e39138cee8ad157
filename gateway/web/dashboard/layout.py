"""Which metrics the dashboard shows, in which sections, and how each is drawn."""

from dataclasses import dataclass

from storage.metrics.definitions import BY_SLUG, METRICS, Combination, Unit

HEADLINE = ("file_share_revenue", "file_share_sessions", "file_share_downloads", "active_user_by_event")
GROUPS = (
    (
        "Money",
        (
            "cashflow",
            "costs",
            "file_share_platform_fees",
            "file_share_avg_price",
            "cumulative_costs",
            "cumulative_file_share_platform_fees",
        ),
    ),
    (
        "Sessions",
        (
            "file_share_paid_sessions",
            "file_share_free_sessions",
            "file_share_payment_conversion",
            "file_share_active_sessions",
            "file_share_completed_sessions",
            "file_share_expired_sessions",
        ),
    ),
    (
        "Usage",
        (
            "file_share_avg_downloads",
            "file_share_total_size_bytes",
            "cost_per_user",
            "cumulative_file_share_sessions",
            "cumulative_file_share_downloads",
        ),
    ),
)
PERCENTAGES = frozenset({"file_share_payment_conversion"})
# Less of these is better.
BURDENS = frozenset(
    {
        "costs",
        "cumulative_costs",
        "cost_per_user",
        "cumulative_file_share_platform_fees",
        "file_share_expired_sessions",
        "file_share_platform_fees",
    }
)
_SHOWN = (*HEADLINE, *(slug for _, slugs in GROUPS for slug in slugs))


@dataclass(frozen=True)
class Place:
    """A section of the page with its metrics; a metric that no section names is in the last."""

    name: str
    slugs: tuple[str, ...]


def places() -> list[Place]:
    """The sections below the headline row."""
    missing = tuple(metric.slug for metric in METRICS if metric.slug not in _SHOWN)
    *first, last = (Place(name, slugs) for name, slugs in GROUPS)
    return [*first, Place(last.name, last.slugs + missing)]


def is_drawn_as_bars(slug: str) -> bool:
    """Counts of what happened in a period are bars; amounts, states and ratios are lines."""
    metric = BY_SLUG[slug]
    return metric.unit is Unit.COUNT and metric.combines is Combination.SUM
