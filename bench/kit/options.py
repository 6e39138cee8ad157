"""The options of a benchmark, from their defaults."""

from argparse import ArgumentDefaultsHelpFormatter, ArgumentParser
from typing import Any


def options(description: str | None, **defaults: Any) -> Any:
    """The command line's options by name; a list is written with commas, and a switch is off by default."""
    parser = ArgumentParser(description=description, formatter_class=ArgumentDefaultsHelpFormatter)
    for name, default in defaults.items():
        if isinstance(default, bool):
            parser.add_argument(f"--{name}", action="store_true")
        else:
            parser.add_argument(f"--{name}", default=default, type=_reader(default), help=" ")
    return parser.parse_args()


def _reader(default: Any) -> Any:
    if isinstance(default, list):
        of_items = type(default[0])
        return lambda text: [of_items(each) for each in text.split(",")]
    return type(default)
