"""`duograph webhooks`: try a receiver of webhooks on one's own machine."""

from typing import Annotated

import typer

from gateway.cli.kit.output import noun

app = noun("Try a receiver of webhooks on your own machine.")

Gateway = Annotated[
    str,
    typer.Option("--gateway", metavar="URL", envvar="DUOGRAPH", help="The gateway to ask."),
]
Token = Annotated[
    str,
    typer.Option(
        "--token", envvar="TOKEN", help="A token of the workspace, or of a member.", show_default=False
    ),
]
Workspace = Annotated[
    str | None,
    typer.Option("--workspace", metavar="SLUG", help="The workspace, if the token has several."),
]
LOCAL = "http://localhost:8000"


@app.command("listen")
def listen_(
    *,
    forward: Annotated[str, typer.Option(metavar="URL", help="Where each change is sent by POST.")],
    token: Token,
    gateway: Gateway = LOCAL,
    kind: Annotated[
        list[str] | None, typer.Option(metavar="KIND", help="Only this kind of change. Can be repeated.")
    ] = None,
    workspace: Workspace = None,
    secret: Annotated[
        str | None, typer.Option(metavar="whsec_...", help="Signs with this secret instead of a new one.")
    ] = None,
) -> None:
    """Follow what changes from now on, and send it to a URL as webhooks are sent, signed and without retries.

    It needs no endpoint: it reads the feed with a token, so that a receiver can be on this machine.
    """
    from gateway.cli.administration.webhooks import listen

    listen(gateway, token, forward, kinds=kind or [], workspace=workspace, secret=secret)


@app.command("trigger")
def trigger_(
    kind: Annotated[str, typer.Argument(help="The kind of change, such as customer.created.")],
    *,
    token: Token,
    gateway: Gateway = LOCAL,
    workspace: Workspace = None,
) -> None:
    """Make one change of a kind, by calls of the API: what it creates stays in the workspace."""
    from gateway.cli.administration.webhooks import trigger

    trigger(gateway, token, kind, workspace=workspace)
