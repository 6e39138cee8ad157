"""`duograph users`: the accounts that sign in."""

from typing import Annotated

import typer

from gateway.cli.output import Json, noun

app = noun("Create users and reset their second factors.")


@app.command()
def create(
    email: Annotated[str, typer.Option(help="The email address to sign in with.")],
    password: Annotated[str, typer.Option(help="12 to 1,000 characters, not easy to guess.")],
    name: Annotated[str | None, typer.Option(help="The name shown to other members.")] = None,
    as_json: Json = False,
) -> None:
    """Create a user with a confirmed email address, who can accept invitations to it."""
    from gateway.cli import users

    users.create(email, password, name, as_json=as_json)


@app.command("reset-factors")
def reset(
    email: Annotated[str, typer.Argument(help="The email address of a user who lost all second factors.")],
    as_json: Json = False,
) -> None:
    """Remove a user's authenticator app, passkeys and recovery codes, so that the password is enough."""
    from gateway.cli import users

    users.reset(email, as_json=as_json)
