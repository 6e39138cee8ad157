"""`duograph schema`: the GraphQL schema as text."""

from pathlib import Path
from typing import Annotated

import typer

import schema
from gateway.cli.output import Json, noun
from gateway.cli.snapshots import export as export_to
from resolvers.graph.root import make_schema

app = noun("The GraphQL schema as text.")

PATH = Path(schema.__path__[0]) / "schema.graphql"


@app.command()
def export(
    check: Annotated[bool, typer.Option("--check", help="Only compare; fail if they differ.")] = False,
    as_json: Json = False,
) -> None:
    """Write schema/schema.graphql."""
    sdl = make_schema().as_str() + "\n"
    export_to(PATH, sdl, check=check, command="duograph schema export", as_json=as_json)
