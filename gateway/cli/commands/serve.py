"""`duograph serve`: the gateway itself."""

from typing import Annotated

import typer

from gateway.cli.output import Json

app = typer.Typer()


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free port.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes.")] = 1,
    demo: Annotated[
        bool, typer.Option("--demo", help="Create the workspace `demo` with data and a token.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Serve until stopped by a signal. SQLite is migrated first. With --json, log lines are JSON too."""
    from gateway.cli.serve import serve

    serve(host, port, workers, demo=demo, as_json=as_json)
