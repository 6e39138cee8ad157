"""The command `duograph`: finds the subcommand, runs it and reports an error in one sentence."""

import gc
import json
import os
import sys
from collections.abc import Sequence
from functools import partial
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from storage.operator_errors import OperatorError

# The subcommands in the order of the help, each with the room that has its arguments and its work.
ROOMS = {
    "serve": "serving",
    "migrate": "upkeep",
    "distribute": "upkeep",
    "move": "upkeep",
    "backup": "upkeep",
    "restore": "upkeep",
    "seed": "demo",
    "users": "administration",
    "workspaces": "administration",
    "tokens": "administration",
    "clients": "administration",
    "keys": "administration",
    "limits": "administration",
    "usage": "administration",
    "webhooks": "administration",
    "storage": "upkeep",
    "metrics": "upkeep",
    "totals": "upkeep",
    "schema": "generated",
    "openapi": "generated",
    "docs": "generated",
    "doctor": "upkeep",
}
NOUNS = tuple(ROOMS)

WRONG_USAGE = 2
# The umask of files that no other user of the machine can read.
OWNER_ONLY = 0o077


class Nouns(TyperGroup):
    """The subcommands: each is the Typer `app` of the module with its name, in `gateway/cli/commands/`."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        # The names are enough to suggest one; the modules are imported when they are needed.
        self.commands: Any = dict.fromkeys(NOUNS)

    def list_commands(self, ctx: object) -> list[str]:
        return list(NOUNS)

    def get_command(self, ctx: object, cmd_name: str) -> Any:
        if cmd_name not in NOUNS:
            return None
        module = import_module(f"gateway.cli.commands.{ROOMS[cmd_name]}.{cmd_name}")
        command = typer.main.get_command(module.app)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=Nouns,
    help="Run and manage a Duograph gateway.",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(is_asked: bool) -> None:
    if is_asked:
        from importlib.metadata import version  # noqa: PLC0415

        typer.echo(f"duograph {version('duograph')}")
        raise typer.Exit


@app.callback()
def duograph(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Its options apply before any subcommand."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Exit with 0, with 1 and a sentence on standard error, or with 2 for invalid arguments."""
    # Imports make many objects and hardly any garbage. `wait_for` begins to collect.
    gc.disable()
    # The database, emails and uploaded files contain secrets.
    os.umask(OWNER_ONLY)
    arguments = sys.argv[1:] if arguments is None else arguments
    fail = partial(_fail, as_json="--json" in arguments)
    try:
        status = typer.main.get_command(app).main(arguments, prog_name="duograph", standalone_mode=False)
    except OperatorError as error:
        fail("usage" if error.status == WRONG_USAGE else "failed", str(error), error.status)
    except typer.TyperException as error:
        fail("usage", _usage(error), error.exit_code)
    except typer.Abort:
        fail("cancelled", "Cancelled before it was done.", 130)
    sys.exit(status or 0)


def _usage(error: typer.TyperException) -> str:
    ctx = getattr(error, "ctx", None)
    path = ctx.command_path if ctx else "duograph"
    message = error.format_message().rstrip(".").replace("Value error, ", "")
    if possibilities := getattr(error, "possibilities", None):
        message = f"{error.message}. Did you mean {' or '.join(possibilities)}?"
    return f"{message}{'' if message.endswith('?') else ':'} `{path} --help` lists what it accepts."


def _fail(code: str, sentence: str, status: int, *, as_json: bool) -> NoReturn:
    """Print the error, with `--json` as the API's errors are: a code and its details."""
    sentence = " ".join(sentence.split())
    text = json.dumps({"error": code, "detail": sentence}, ensure_ascii=False) if as_json else sentence
    typer.echo(text, err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
