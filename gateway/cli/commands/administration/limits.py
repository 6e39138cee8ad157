"""`duograph limits`: the rate limit and storage quota of a workspace."""

from typing import Annotated

import typer

from gateway.cli.kit.output import CommandError, Json, noun
from schema.values.integers import LARGEST_INT, LARGEST_LONG

app = noun("Show and set the limits of a workspace.")

Slug = Annotated[str, typer.Argument(help="The workspace.")]


@app.command("set")
def set_(
    slug: Slug,
    requests_per_minute: Annotated[
        int | None,
        typer.Argument(metavar="N", min=0, max=LARGEST_INT, help="Calls per minute; 0 for no limit."),
    ] = None,
    storage_quota: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_LONG, help="Bytes of stored files; 0 for no limit."),
    ] = None,
    open_upload_quota: Annotated[
        int | None,
        typer.Option(min=0, max=LARGEST_INT, help="Incomplete uploads; 0 for no limit."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Set a workspace's own limits, from its next request on."""
    limits = {
        "requests_per_minute": requests_per_minute,
        "storage_quota": storage_quota,
        "open_upload_quota": open_upload_quota,
    }
    changes = {name: value for name, value in limits.items() if value is not None}
    if not changes:
        raise CommandError("Name a limit: calls per minute, --storage-quota or --open-upload-quota.")
    from gateway.cli.administration.limits import set_

    set_(slug, changes, as_json=as_json)


@app.command("show")
def show_(slug: Slug, as_json: Json = False) -> None:
    """Show a workspace's limits and usage."""
    from gateway.cli.administration.limits import show_

    show_(slug, as_json=as_json)
