"""Examples of answers, which `make generated` takes from a gateway that runs the examples of requests."""

import json
from functools import cache
from pathlib import Path
from typing import Any

ANSWERS_FILE = Path(__file__).parent / "answers.json"


@cache
def answers() -> dict[str, Any]:
    """By the names of operations, and of the responses of failures."""
    examples: dict[str, Any] = json.loads(ANSWERS_FILE.read_text())
    return examples
