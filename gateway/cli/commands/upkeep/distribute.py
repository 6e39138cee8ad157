"""`duograph distribute`: spread the workspaces over a Citus cluster."""

from typing import Annotated

import typer

from gateway.cli.kit.output import Json

app = typer.Typer(add_completion=False)

DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the statements and run none of them.")]
Shards = Annotated[
    int | None, typer.Option(min=1, max=64_000, help="Into how many shards the tables are divided.  [32]")
]


@app.command()
def distribute(shards: Shards = None, dry_run: DryRun = False, as_json: Json = False) -> None:
    """Distribute the tables of a PostgreSQL database with Citus by workspace.

    Stop the gateways first. After an interruption, run it again.
    """
    from gateway.cli.upkeep.distribute import distribute, print_plan

    if dry_run:
        print_plan(shards, as_json=as_json)
    else:
        distribute(shards, as_json=as_json)
