"""`duograph serve`: the gateway itself."""

from typing import Annotated

import typer

from gateway.cli.kit.output import Json

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "localhost",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 for any free port.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes.")] = 1,
    demo: Annotated[
        bool, typer.Option("--demo", help="Create the workspace `demo` with data and a token.")
    ] = False,
    reload: Annotated[
        bool, typer.Option("--reload", help="Start again after each change of the code, for contributors.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Serve until stopped by a signal. SQLite is migrated first. With --json, log lines are JSON too."""
    if reload:
        from gateway.cli.serving.reload import serve_again

        options = ["--host", host, "--port", str(port), "--workers", str(workers)]
        flags = {"--demo": demo, "--json": as_json}
        serve_again([*options, *(name for name, is_set in flags.items() if is_set)])
        return
    from gateway.cli.serving.serve import serve

    serve(host, port, workers, demo=demo, as_json=as_json)
