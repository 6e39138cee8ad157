"""The plan that a database makes of a statement whatever its values are."""

import re

from storage.engine.database import Database


async def plan_of(database: Database, statement: str) -> list[str]:
    """The steps of the plan, in which PostgreSQL uses indexes wherever it can."""
    async with database.snapshot() as connection:
        if database.is_sqlite:
            values = (None,) * statement.count("?")
            rows = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)).all()
            return [row.detail for row in rows]
        await connection.exec_driver_sql("SET LOCAL plan_cache_mode = force_generic_plan")
        for way in ("seqscan", "bitmapscan", "sort", "incremental_sort"):
            await connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        await connection.exec_driver_sql(f"PREPARE listed AS {statement}")
        values_in_text = ", ".join(
            ["NULL"] * max(int(number) for number in re.findall(r"\$(\d+)", statement))
        )
        rows = (await connection.exec_driver_sql(f"EXPLAIN EXECUTE listed({values_in_text})")).all()
        await connection.exec_driver_sql("DEALLOCATE listed")
        return [row[0] for row in rows]
