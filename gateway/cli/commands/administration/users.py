"""`duograph users`: the accounts that sign in."""

from typing import Annotated

import typer

from gateway.cli.kit.output import CommandError, Json, Limit, Yes, confirm, noun

app = noun("Create, list and delete users, and reset their second factors.")

Email = Annotated[str, typer.Argument(help="The user's email address.")]


@app.command()
def create(
    email: Annotated[str, typer.Option(help="The email address to sign in with.")],
    password: Annotated[str | None, typer.Option(hidden=True)] = None,
    name: Annotated[str | None, typer.Option(help="The name shown to other members.")] = None,
    as_json: Json = False,
) -> None:
    """Create a user with a confirmed email address, who can accept invitations to it.

    The password is asked for, or read from standard input: 12 to 1,000 characters, not easy to guess.
    """
    from gateway.cli.kit.passwords import AS_ARGUMENT, read_password

    if password is not None:
        raise CommandError(AS_ARGUMENT, status=2)
    password = read_password()
    from gateway.cli.administration import users

    users.create(email, password, name, as_json=as_json)


@app.command("reset-factors")
def reset(
    email: Annotated[str, typer.Argument(help="The email address of a user who lost all second factors.")],
    as_json: Json = False,
) -> None:
    """Remove a user's authenticator app, passkeys and recovery codes, so that the password is enough."""
    from gateway.cli.administration import users

    users.reset(email, as_json=as_json)


@app.command("list")
def list_(limit: Limit = 100, as_json: Json = False) -> None:
    """List users."""
    from gateway.cli.administration import users

    users.list_(limit, as_json=as_json)


@app.command("show")
def show_(email: Email, as_json: Json = False) -> None:
    """Show a user, with workspaces and second factors."""
    from gateway.cli.administration import users

    users.show_(email, as_json=as_json)


@app.command()
def delete(email: Email, yes: Yes = False, as_json: Json = False) -> None:
    """Delete a user with their sessions, tokens, memberships and second factors.

    The last owner of a workspace cannot be deleted before the workspace is. OAuth clients of the user end.
    """
    confirm(f"This deletes the user {email}.", yes=yes)
    from gateway.cli.administration import users

    users.delete(email, as_json=as_json)
