"""The command `duograph`: finds the subcommand, runs it and reports an error in one sentence."""

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

import typer
from typer.core import TyperGroup

from gateway.cli.output import CommandError

NOUNS = (
    "serve",
    "migrate",
    "seed",
    "users",
    "workspaces",
    "tokens",
    "clients",
    "keys",
    "limits",
    "metrics",
    "totals",
    "schema",
    "openapi",
    "docs",
    "doctor",
)

# The umask of files that no other user of the machine can read.
OWNER_ONLY = 0o077


class Nouns(TyperGroup):
    """The subcommands: each is the Typer `app` of the module with its name in `gateway/cli/commands/`."""

    def list_commands(self, ctx: object) -> list[str]:
        return list(NOUNS)

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        if cmd_name not in NOUNS:
            return None
        command = typer.main.get_command(import_module(f"gateway.cli.commands.{cmd_name}").app)
        command.name = cmd_name
        return command


duograph = Nouns(name="duograph", help="Run and manage a Duograph gateway.")


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Exit with 0, with 1 and a sentence on standard error, or with 2 for invalid arguments."""
    # Imports make many objects and hardly any garbage. `wait_for` begins to collect.
    gc.disable()
    # The database, emails and uploaded files contain secrets.
    os.umask(OWNER_ONLY)
    try:
        status = duograph.main(arguments, prog_name="duograph", standalone_mode=False)
    except CommandError as error:
        _fail(str(error), error.status)
    except typer.TyperException as error:
        _fail(_usage(error), error.exit_code)
    except typer.Abort:
        _fail("Cancelled before it was done.", 130)
    sys.exit(status or 0)


def _usage(error: typer.TyperException) -> str:
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "duograph"
    return f"{error.format_message().rstrip('.')}: `{path} --help` lists what it accepts."


def _fail(sentence: str, status: int) -> NoReturn:
    typer.echo(" ".join(sentence.split()), err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
