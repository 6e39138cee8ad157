"""Passwords of commands: asked for or piped in, because other programs can read arguments."""

import sys

import typer

from gateway.cli.kit.output import CommandError

AS_ARGUMENT = (
    "A password in the arguments can be read by other programs and stays in the shell's history: leave "
    "--password out to be asked for it, or pipe it in."
)


def read_password() -> str:
    """Asked for twice in a terminal, otherwise the first line of standard input. Raises `CommandError`."""
    if sys.stdin.isatty():
        password: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return password
    password = sys.stdin.readline().rstrip("\r\n")
    if not password:
        raise CommandError("Send the password as a line of standard input, or run this in a terminal.")
    return password
