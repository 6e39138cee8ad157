"""Which metrics the dashboard shows, in which sections, and how each is drawn."""

from dataclasses import dataclass

from storage.metrics.definitions import BY_SLUG, METRICS, Combination, Unit

# The tabs over the large chart.
HEADLINE = (
    "file_share_revenue",
    "file_share_sessions",
    "file_share_downloads",
    "active_user_by_event",
    "cashflow",
)
# What is shown instead of a metric if its values are to be added up.
CUMULATIVE = {
    "costs": "cumulative_costs",
    "file_share_platform_fees": "cumulative_file_share_platform_fees",
    "file_share_sessions": "cumulative_file_share_sessions",
    "file_share_downloads": "cumulative_file_share_downloads",
}
_COUNTS = (Combination.SUM, Combination.DISTINCT)
PERCENTAGES = frozenset({"file_share_payment_conversion"})
# What a ratio is to, as a metric. One that is to no metric is 0 only without data.
DIVISORS = {
    metric.slug: next(
        (
            each.slug
            for each in METRICS
            if each.of == metric.per and each.combines in _COUNTS and not each.less
        ),
        metric.slug,
    )
    for metric in METRICS
    if metric.per is not None
}
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


@dataclass(frozen=True)
class Group:
    """A section of small charts; `key` names it where a member's arrangement is kept."""

    key: str
    name: str
    slugs: tuple[str, ...]


_GROUPS = (
    Group("money", "Money", ("costs", "file_share_platform_fees", "file_share_avg_price")),
    Group(
        "sessions",
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
    Group("usage", "Usage", ("file_share_avg_downloads", "file_share_total_size_bytes", "cost_per_user")),
)
_PLACED = {*HEADLINE, *CUMULATIVE.values(), *(slug for group in _GROUPS for slug in group.slugs)}
_OTHERS = tuple(metric.slug for metric in METRICS if metric.slug not in _PLACED)
# A metric that no group names is in the last.
GROUPS = (*_GROUPS[:-1], Group(_GROUPS[-1].key, _GROUPS[-1].name, _GROUPS[-1].slugs + _OTHERS))


def is_drawn_as_bars(slug: str) -> bool:
    """Counts of what happened in a period are bars; amounts, states and ratios are lines."""
    metric = BY_SLUG[slug]
    return metric.unit is Unit.COUNT and metric.combines is Combination.SUM
