"""Serving for people who change the code: a new process after each change of a file of the project."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from watchfiles import run_process

from gateway.cli.kit.database import read_settings
from gateway.cli.kit.output import CommandError
from gateway.settings.server import Environment

PACKAGES = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage")
ROOT = Path(__file__).parents[3]
SECONDS_TO_STOP = 5


def serve_again(arguments: Sequence[str]) -> None:
    """Run `duograph serve` with the arguments until stopped, anew after each change."""
    if read_settings().env == Environment.PRODUCTION:
        raise CommandError("--reload is only for development: leave it out, or unset DUOGRAPH_ENV.")
    run_process(
        *(ROOT / package for package in PACKAGES),
        target=shlex.join([sys.executable, "-m", "gateway.cli.main", "serve", *arguments]),
        target_type="command",
        sigint_timeout=SECONDS_TO_STOP,
    )
