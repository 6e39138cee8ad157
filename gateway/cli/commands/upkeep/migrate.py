"""`duograph migrate`: bring the database to the revision of this version."""

import typer

from gateway.cli.kit.output import Json

app = typer.Typer(add_completion=False)


@app.command()
def migrate(as_json: Json = False) -> None:
    """Bring the database to the newest revision."""
    from gateway.cli.upkeep.migrate import migrate

    migrate(as_json=as_json)
