"""Writing metrics from columns gives the same bytes as writing each value, on both surfaces."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from resolvers.graph.root import make_schema
from rest_compat.api import operation_routes
from schema.metrics.metrics import MetricColumns, MetricInfo, MetricPeriod, Metrics
from schema.values.integers import LARGEST_LONG
from schema.values.scalars import UNCHANGED, leaves_unchanged, write_number, write_numbers
from storage.enums import Currency
from storage.metrics.definitions import METRICS
from tests.metrics.test_reading import measured
from tests.support.callers.documents import HEAD, USE, VARIABLES, selections
from tests.support.executor.resolvers import without_plans

__all__ = ["measured"]

SCHEMA = make_schema()._schema
WHOLE = st.one_of(st.integers(), *(st.integers(edge - 2, edge + 2) for edge in (LARGEST_LONG, -LARGEST_LONG)))
SHORT = st.one_of(st.integers(edge - 1, edge + 1) for edge in (2**31, -(2**31)))
DOUBLE = st.floats(allow_nan=False, allow_infinity=False)
OTHER = st.one_of(st.floats(), st.booleans(), st.text(max_size=3), st.none())
COLUMNS = st.one_of(
    *map(st.lists, (WHOLE, SHORT, DOUBLE, st.booleans(), st.text(), st.floats(), WHOLE | SHORT | OTHER))
)
ONE_BY_ONE = TypeAdapter(list[MetricPeriod])


@pytest.mark.parametrize("name", UNCHANGED)
@given(values=COLUMNS)
def test_values_that_a_scalar_leaves_unchanged_it_would_write_as_they_are(name, values):
    if leaves_unchanged(name, set(map(type, values)), values):
        written = [SCHEMA.type_map[name].coerce_output_value(value) for value in values]
        assert repr(written) == repr(values)


@given(st.lists(WHOLE | DOUBLE))
def test_numbers_are_written_as_each_of_them_is(values):
    assert repr(write_numbers(values)) == repr([write_number(value) for value in values])


@st.composite
def columns_of_metrics(draw):
    size = draw(st.integers(0, 5))
    asked = draw(st.lists(st.sampled_from(METRICS), unique=True))
    columns = {
        "timestamp": [f"2026-01-0{day + 1}T00:00:00.000000+00:00" for day in range(size)],
        "is_complete": draw(st.lists(st.booleans(), min_size=size, max_size=size)),
    }
    for metric in METRICS:
        if metric in asked:
            numbers = WHOLE if metric.is_whole else DOUBLE
            columns[metric.slug] = draw(st.lists(numbers, min_size=size, max_size=size))
    return columns


@given(columns_of_metrics())
def test_rest_writes_periods_as_if_each_were_an_object(columns):
    timestamps, are_complete, *values = columns.values()
    written = dict(zip(columns, [timestamps, are_complete, *map(write_numbers, values)], strict=True))
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    periods = ONE_BY_ONE.dump_json([MetricPeriod.model_construct(**row) for row in rows])
    metrics = Metrics.with_columns(
        MetricColumns(
            written.pop("timestamp"), written.pop("is_complete"), written, dict.fromkeys(written, 1.5)
        ),
        rows=[],
        metrics=[MetricInfo.of(metric, Currency.USD) for metric in METRICS],
        currency=Currency.USD,
        other_currencies=[],
        groups=[],
        comparison=None,
    )
    body = operation_routes()["get_metrics"].served.body_of(metrics, {})
    assert body.startswith(b'{"periods":' + periods + b',"totals":')
    assert body == metrics.model_dump_json().encode()


@settings(max_examples=50, suppress_health_check=list(HealthCheck))
@given(
    selections(SCHEMA.type_map["Metrics"]), st.sampled_from(["", "metrics: [COSTS, CASHFLOW]", "metrics: []"])
)
async def test_any_selection_is_answered_as_by_the_stock_executor(
    gateway, measured, monkeypatch, selected, asked
):
    text, fragments = selected
    dates = 'startDate: "2026-01-03", endDate: "2026-01-06", interval: DAY'
    document = f"{HEAD} {{ {USE} metrics({dates} {asked}) {text} }} {fragments}"
    answers = []
    for is_planned in (False, True):
        if not is_planned:
            without_plans(monkeypatch, gateway.app.state.schema)
        answer = await gateway.client.post(
            "/graphql",
            json={"query": document, "variables": VARIABLES},
            headers={"Authorization": f"Bearer {measured.token}"},
        )
        monkeypatch.undo()
        answers.append(answer.text)
    assert answers[0] == answers[1]
    assert asked or '"errors"' not in answers[0]
