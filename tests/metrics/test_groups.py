"""Metrics by share, customer, currency and event name against a plain count of random histories."""

import json
from dataclasses import replace
from datetime import timedelta
from itertools import chain
from random import Random

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from storage.metrics.cells.period_sql import MOST_RUNS
from storage.metrics.definitions import BY_SLUG, Unit
from tests.metrics import reference
from tests.metrics.histories import CURRENCIES
from tests.metrics.telling import (
    compared_dates,
    filters_of,
    make_history,
    measured,
    tell,
    view_of,
)
from tests.metrics.test_metrics import home, most_runs
from tests.metrics.test_periods import ranges
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.measures.cases import cases

__all__ = ["home", "most_runs"]

LABELS = {"share": "No share", "customer": "No customer", "currency": "No currency"}
LABELS["event_name"] = "No event name"
# Of two ways of grouping on two databases.
VARIANTS = 4 * len(LABELS)


def key_function(kind, view, home, filters):
    """What a record is grouped by."""
    customers = {}
    for id, (workspace, person) in home.customers.items():
        if person is not None and str(id) in filters.get("customer_id", map(str, home.customers)):
            customers[workspace, view.history.merges.get((workspace, person), person)] = id
    return {
        "share": lambda record: record.share,
        "customer": lambda record: customers.get(view.person(record)),
        "event_name": lambda record: getattr(record, "name", None),
    }[kind]


def ranked_keys(view, key_of, asked, compared, filters):
    """All groups in which something is measured, by what ranks them."""
    slugs, by = filters["metrics"], filters.get("top_by")
    ranges_asked = [each for each in (asked, compared) if each is not None and periods_in(each)]
    ranking = ranges_asked if by is None else ranges_asked[:1]
    places = {}
    for key in {key_of(record) for record in [*view.history.sessions, *view.history.events]}:
        own = replace(view, only=lambda record, key=key: key_of(record) == key)
        totals = [measured(own, each, list(BY_SLUG))["totals"] for each in ranking]
        values = [max(total[slug] for total in totals) for slug in (by or slugs[0], *slugs)] if totals else []
        if any(has_values(own, each, {by or slugs[0], *slugs}) for each in ranges_asked):
            first = values[0]
            following = [-value for value in values[1:] if not first]
            until = next((place + 1 for place, value in enumerate(following) if value), len(following))
            places[key] = (-first, following[:until], key is None, str(key))
    return sorted(places, key=places.get)


def has_values(view, asked, slugs):
    """Whether a metric is not 0, or is only because what it adds up cancels out."""
    zone, start, end, _ = asked
    begins = reference.first_instant(zone, start)
    ends = reference.first_instant(zone, end + timedelta(days=1))
    totals = measured(view, asked, list(slugs))["totals"]
    return any(totals.values()) or any(any(reference.parts(view, slug, begins, ends)) for slug in slugs)


def group(home, kind, key, view, asked, slugs):
    """A group as the answer has it; `...` is the key of the rest."""
    labels = {share: f"Share {number}" for number, share in enumerate(home.shares)}
    labels |= {id: f"{person}@example.com" for id, (_, person) in home.customers.items()}
    label = {None: LABELS[kind], ...: "Other"}.get(key) or labels.get(key, key)
    described = {
        "key": None if key in {None, ...} else str(key),
        "label": label.upper() if kind == "currency" and key is not None else label,
        "is_rest": key is ...,
        "currency": view.currency,
        "exponent": 0 if view.currency == "jpy" else 2,
    }
    return described | measured(view, asked, slugs)


def is_empty(answer, slugs):
    parts = [*answer["periods"], answer["totals"]]
    return not any(part[slug] for part in parts for slug in slugs)


def groups_of(home, kind, view, asked, slugs, key_of, keys, *, has_rest):
    """The groups with these keys, and the rest if there are others."""
    answers = [
        group(
            home, kind, key, replace(view, only=lambda record, key=key: key_of(record) == key), asked, slugs
        )
        for key in keys
    ]
    rest = replace(view, only=lambda record: key_of(record) not in keys)
    return [*answers, group(home, kind, ..., rest, asked, slugs)] if has_rest else answers


def currencies_of(home, view, ranges_asked, slugs):
    """The currencies of each range, with 0 for what is not money, which is in the last group.

    All ranges have the same ones.
    """
    by_range = [[] for _ in ranges_asked]
    for code in [*sorted(CURRENCIES), None]:
        own = view if code is None else replace(view, currency=code)
        answers = [group(home, "currency", code, own, asked, slugs) for asked in ranges_asked]
        for answer in answers:
            for slug in slugs:
                if (BY_SLUG[slug].unit is Unit.MONEY) == (code is None):
                    for part in (*answer["periods"], answer["totals"]):
                        part[slug] = 0 if BY_SLUG[slug].is_whole else 0.0
        timed = [answer for answer in answers if answer["periods"]]
        if not all(is_empty(answer, slugs) for answer in timed):
            for place, answer in enumerate(answers):
                by_range[place] += [answer] if answer["periods"] else []
    return by_range


@pytest.mark.long
@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("most_runs", [MOST_RUNS, 0], ids=["by period", "by cell"], indirect=True)
@pytest.mark.usefixtures("most_runs")
@settings(
    max_examples=cases(7, VARIANTS),
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(asked=ranges(), seed=st.integers(0, 2**32))
async def test_every_group_is_what_a_plain_count_says(gateway, home, kind, asked, seed):
    zone, start, end, interval = asked
    random = Random(seed)
    history = make_history(random, home, asked)
    await tell(gateway, home, history, random)
    filters = filters_of(random, home) | {"group_by": kind, "top": random.randint(1, 3)}
    filters["metrics"] = random.sample(list(BY_SLUG), random.randint(1, 4))
    if random.random() < 0.5:
        filters["top_by"] = random.choice(list(BY_SLUG))
    dates = {"start_date": start.isoformat(), "end_date": end.isoformat()}
    query = {**dates, "interval": interval, "timezone": zone, **filters}
    view = view_of(history, home, filters)
    wanted = expected_groups(home, kind, view, asked, filters)
    for surface in (Rest, GraphQL):
        answer = await surface(gateway.client, gateway.app, home.token).get_metrics(**query)
        found = [answer["groups"]]
        if answer["comparison"] is not None:
            found.append(answer["comparison"]["groups"])
        for group in chain(*found):
            del group["rows"]  # `tests/file_shares/test_group_lineage.py` follows them.
        assert json.dumps(found, sort_keys=True) == json.dumps(wanted, sort_keys=True), surface.name


def expected_groups(home, kind, view, asked, filters):
    """The groups of the range, and those of the compared one."""
    zone, start, end, interval = asked
    slugs, ranges_asked, compared = filters["metrics"], [asked], None
    if "compare" in filters:
        compared = (zone, *compared_dates(start, end, filters["compare"]), interval)
        ranges_asked.append(compared)
    if kind == "currency":
        return currencies_of(home, view, ranges_asked, slugs)
    key_of = key_function(kind, view, home, filters)
    ranked = ranked_keys(view, key_of, asked, compared, filters)
    keys, others = ranked[: filters["top"]], ranked[filters["top"] :]
    has_rest = any(
        has_values(replace(view, only=lambda record, key=key: key_of(record) == key), each, slugs)
        for key in others
        for each in ranges_asked
        if periods_in(each)
    )
    return [
        groups_of(home, kind, view, each, slugs, key_of, keys, has_rest=has_rest) if periods_in(each) else []
        for each in ranges_asked
    ]


def periods_in(asked):
    zone, start, end, interval = asked
    return reference.periods(zone, start, end, interval)
