"""The sizes of tables on a cluster: a distributed one has those of its shards on all nodes."""

import pytest

from storage.upkeep import table_sizes
from storage.upkeep.table_sizes import TableSize, read_sizes
from storage.workspaces.distribution import REFERENCE, Cluster

# What Citus would say; tests/cluster asks Citus itself.
CITUS = (
    "CREATE FUNCTION citus_total_relation_size(name regclass) RETURNS bigint LANGUAGE sql AS 'SELECT 70000'",
    """CREATE FUNCTION run_command_on_shards(name regclass, command text)
    RETURNS TABLE (shard bigint, success boolean, result text) LANGUAGE sql
    AS $$ VALUES (1::bigint, true, '300'), (2, true, '40'), (3, false, 'ERROR: the node is gone') $$""",
)


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True, scope="session")
async def test_a_distributed_table_has_the_rows_and_bytes_of_its_shards(empty, monkeypatch):
    kinds = {REFERENCE: "reference", "events": "distributed"}

    async def read_cluster(_):
        return Cluster("it", kinds, frozenset(), 3, has_option=True)

    async with empty.write() as connection:
        for name in kinds:
            await connection.exec_driver_sql(f"CREATE TABLE {name} (id int)")
        for function in CITUS:
            await connection.exec_driver_sql(function)
    alone = await read_sizes(empty)
    assert [(size.rows, size.bytes) for size in alone.tables] == [(0, 0)] * 2
    monkeypatch.setattr(table_sizes, "read_cluster", read_cluster)
    sizes = await read_sizes(empty)
    assert sizes.tables == [TableSize("events", 340, 70_000), TableSize(REFERENCE, 0, 0)]
    assert (sizes.bytes, "on all nodes" in sizes.method) == (70_000, True)
