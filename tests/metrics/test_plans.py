"""SQLite, which has no statistics, finds facts by their persons or shares, and cells by all of their key."""

from dataclasses import replace
from itertools import permutations
from uuid import uuid4

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.dialects import sqlite

from storage.enums import FactKind
from storage.metrics.reading.cell_query import placed_cells
from storage.metrics.reading.cell_statements import rows_of_cells
from storage.metrics.reading.engine import question_of_money
from storage.metrics.reading.fact_source import FACTS
from storage.metrics.reading.fact_statements import FactQuery, OfPersons, persons_with_events, sums_of_facts
from storage.metrics.reading.reader import Selection
from storage.metrics.sums import FactSum
from storage.tables.registry import METADATA

EDGES = (0, 3_600_000_000)
HOME = uuid4()
OF_A_CUSTOMER = FactQuery("sqlite", FACTS, EDGES, OfPersons(1)), Selection([HOME]), {HOME: [7, 8]}
OF_A_SHARE = FactQuery("sqlite", FACTS, EDGES, by_share=True), Selection([HOME], [uuid4()]), None

EVERY_COUNT = tuple(FactSum(kind, "count") for kind in FactKind)


@pytest.fixture
def engine():
    engine = create_engine("sqlite://")
    METADATA.create_all(engine)
    yield engine
    engine.dispose()


@pytest.mark.parametrize(
    ("selected", "index"),
    [(OF_A_CUSTOMER, "ix_metric_facts_person"), (OF_A_SHARE, "ix_metric_facts_share")],
    ids=["of a customer", "of a share"],
)
def test_facts_are_found_by_person_or_share_whatever_the_order_of_the_indexes(engine, selected, index):
    query, selection, persons = selected
    values = query.values(selection, persons) | {"currency": "usd"}
    for indexes in permutations(FACTS.indexes):
        with engine.begin() as connection:
            for each in indexes:
                each.drop(connection)
            for each in indexes:
                each.create(connection)
            for statement in (
                persons_with_events(query),
                sums_of_facts(query, (FactSum(FactKind.DOWNLOAD, "count"),)),
                sums_of_facts(replace(query, since_ever=frozenset(FactKind)), EVERY_COUNT),
            ):
                written = statement.params(**values).compile(
                    dialect=sqlite.dialect(), compile_kwargs={"literal_binds": True}
                )
                plan = connection.execute(text(f"EXPLAIN QUERY PLAN {written}")).all()
                steps = [row.detail for row in plan if "metric_facts" in row.detail]
                assert steps
                assert all(index in step and ("moment>?" in step or "moment<?" in step) for step in steps)


def test_money_in_each_currency_reads_only_the_cells_of_its_range(engine):
    (placed,) = placed_cells("sqlite", Selection([HOME]), question_of_money([0, 51 * 86_400_000_000]))
    written = rows_of_cells(placed.query).compile(dialect=sqlite.dialect())
    with engine.begin() as connection:
        values = (None,) * str(written).count("?")
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {written}", values).all()
    steps = [row.detail for row in plan if "metric_money_cells" in row.detail]
    assert steps
    assert all("currency=? AND grain=? AND at>? AND at<?" in step for step in steps)
