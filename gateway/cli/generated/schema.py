"""Exports the GraphQL schema as text."""

from gateway.cli.generated.snapshots import export as export_to
from resolvers.graph.contract import SCHEMA_FILE
from resolvers.graph.root import make_schema


def export(*, check: bool, output: str | None, as_json: bool) -> None:
    sdl = make_schema().as_str() + "\n"
    command = "duograph schema export"
    export_to(SCHEMA_FILE, sdl, check=check, output=output, command=command, as_json=as_json)
