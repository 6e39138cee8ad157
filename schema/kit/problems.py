"""What pydantic says of input that it refuses, as problems of ours."""

from typing import Any

from pydantic import ValidationError

from schema.errors import Problem, problem


def problems_of(error: ValidationError) -> list[Problem]:
    """Pydantic's problems in our form, without inputs that are containers or secrets."""
    return [
        problem(_readable(entry["loc"]), _message(entry), entry["type"], input=entry["input"])
        for entry in error.errors(include_url=False)
    ]


def _message(entry: Any) -> str:
    if entry["type"] == "missing" and entry["msg"] == "Field required":
        return f"`{entry['loc'][-1]}` is required"
    cause = (entry.get("ctx") or {}).get("error")
    return str(cause) if isinstance(cause, ValueError) else str(entry["msg"])


def _readable(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    # Pydantic adds union branches and key markers to a location, which callers did not send.
    return tuple(
        part
        for part in loc
        if not (isinstance(part, str) and (part == "[key]" or part.startswith("function-")))
    )
