"""Exports the GraphQL schema as text."""

from pathlib import Path

import schema
from gateway.cli.snapshots import export as export_to
from resolvers.graph.root import make_schema

PATH = Path(schema.__path__[0]) / "schema.graphql"


def export(*, check: bool, as_json: bool) -> None:
    sdl = make_schema().as_str() + "\n"
    export_to(PATH, sdl, check=check, command="duograph schema export", as_json=as_json)
