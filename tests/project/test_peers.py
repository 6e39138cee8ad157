"""The peers of the benchmarks answer the documents that the gateway is measured with."""

import os
import subprocess
import sys

from graphql import build_schema, parse, validate

from bench.kit.requests import document_of_shares

# It gives the gateway's own entities relationships, so it is not imported beside them.
PRINT_SCHEMA = "from bench.peers.stock_strawberry import schema; print(schema.as_str())"


def test_stock_strawberry_has_every_field_of_the_list_of_shares():
    environment = {**os.environ, "DATABASE": "postgresql+asyncpg://nobody@localhost/nothing"}
    printed = subprocess.run(
        [sys.executable, "-c", PRINT_SCHEMA], env=environment, capture_output=True, text=True, check=True
    )
    assert not validate(build_schema(printed.stdout), parse(document_of_shares()))
