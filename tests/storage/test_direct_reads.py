"""Statements as a node is asked for them; `tests/cluster` reads from real nodes."""

import pytest

from storage.cluster.shards import OwnTables, make_texts

TABLES = OwnTables(2, {"events": 12, "customers": 13, "workspaces": 8}, 12, make_texts())
AT_HOME = OwnTables(0, {"users": 3, "workspaces": 8}, None, make_texts())


def test_a_statement_is_read_from_the_tables_of_the_node_while_the_shard_is_there() -> None:
    text = (
        "SELECT events.id, c.name, workspaces.slug FROM events "
        "JOIN customers AS c ON c.id = events.customer_id, workspaces WHERE events.workspace_id = $1"
    )
    assert TABLES.text_of(text) == (
        "SELECT * FROM (SELECT events.id, c.name, workspaces.slug FROM events_12 AS events "
        "JOIN customers_13 AS c ON c.id = events.customer_id, workspaces_8 AS workspaces "
        "WHERE events.workspace_id = $1) AS own WHERE 1 / (SELECT count(*) FROM pg_catalog.pg_dist_placement "
        "WHERE shardid = 12 AND groupid = 2) = 1"
    )
    assert AT_HOME.text_of("SELECT id FROM users WHERE id = $1") == (
        "SELECT id FROM users_3 AS users WHERE id = $1"
    )


@pytest.mark.parametrize(
    "text",
    [
        "SELECT events.id FROM events JOIN users ON users.id = events.user_id",
        "SELECT users.id FROM users",
        "SELECT 1",
        "SELECT id FROM events FOR UPDATE",
        "UPDATE events SET name = $1 RETURNING id",
        "WITH gone AS (DELETE FROM events RETURNING id) SELECT id FROM gone",
        # A part of the statement, and not the table of its name.
        "WITH events AS (SELECT 1 AS id) SELECT events.id FROM events",
    ],
)
def test_a_node_is_not_asked_for_other_tables_nor_for_a_change(text: str) -> None:
    assert TABLES.text_of(text) is None
