"""`duograph limits`: the rate limit and the quotas of a workspace."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from gateway.cli.kit.output import CommandError, Json, noun
from schema.values.integers import LARGEST_INT, LARGEST_LONG

app = noun("Show and set the limits of a workspace.")

Slug = Annotated[str, typer.Argument(help="The workspace.")]


@app.command("set")
def set_(  # noqa: PLR0917
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
    rows: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND=N",
            help="Rows of a kind, such as events=1000; 0 for no limit. Can be repeated.",
        ),
    ] = None,
    bytes_: Annotated[
        list[str] | None,
        typer.Option(
            "--bytes",
            metavar="KIND=N",
            help="Bytes of texts and metadata of a kind, written like --rows. Can be repeated.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Set a workspace's own limits, from its next request on."""
    from gateway.settings.row_quotas import BYTE_QUOTAS, ROW_QUOTAS

    limits: dict[str, Any] = {
        "requests_per_minute": requests_per_minute,
        "storage_quota": storage_quota,
        "open_upload_quota": open_upload_quota,
        "row_quotas": _quotas("--rows", rows, ROW_QUOTAS),
        "byte_quotas": _quotas("--bytes", bytes_, BYTE_QUOTAS),
    }
    changes = {name: value for name, value in limits.items() if value is not None}
    if not changes:
        raise CommandError(
            "Name a limit: calls per minute, --storage-quota, --open-upload-quota, --rows or --bytes."
        )
    from gateway.cli.administration.limits import set_

    set_(slug, changes, as_json=as_json)


def _quotas(option: str, written: list[str] | None, kinds: Mapping[str, int]) -> dict[str, int] | None:
    from gateway.settings.row_quotas import parse_quotas

    try:
        return parse_quotas(",".join(written), kinds) if written else None
    except ValueError as error:
        raise CommandError(f"{option}: {error}.") from None


@app.command("show")
def show_(slug: Slug, as_json: Json = False) -> None:
    """Show a workspace's limits and usage."""
    from gateway.cli.administration.limits import show_

    show_(slug, as_json=as_json)
