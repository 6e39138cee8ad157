"""The quotas of rows by kind, as a setting and an option of `duograph limits` write them."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import BeforeValidator

from schema.values.integers import LARGEST_LONG

# The kinds are those of `storage/totals/kinds.py`, which takes longer to import than a command's help.
ROW_QUOTAS: Mapping[str, int] = {
    "customers": 10_000_000,
    "members": 20_000_000,
    "events": 200_000_000,
    "sessions": 20_000_000,
    "downloads": 200_000_000,
    "payments": 20_000_000,
    "refunds": 20_000_000,
    "files": 1_000_000,
    "shares": 1_000_000,
    "custom_fields": 10_000,
}


def parse_quotas(text: str) -> dict[str, int]:
    """The numbers by kind in `events=1000, shares=0`. Raises `ValueError` with what the operator can do."""
    quotas = {}
    for part in text.split(","):
        kind, _, number = (each.strip() for each in part.partition("="))
        if kind not in ROW_QUOTAS or not (number.isascii() and number.isdigit()):
            raise ValueError(f"{part.strip()!r} is not KIND=N, with one of: {', '.join(ROW_QUOTAS)}")
        quotas[kind] = int(number)
        if quotas[kind] > LARGEST_LONG:
            raise ValueError(f"{kind} can be at most {LARGEST_LONG}")
    return quotas


def write_quotas(quotas: Mapping[str, int]) -> str:
    return ", ".join(f"{kind}={number}" for kind, number in quotas.items())


def _completed(value: Any) -> Any:
    """The quotas that are written, and the defaults of other kinds."""
    return {**ROW_QUOTAS, **parse_quotas(value)} if isinstance(value, str) else value


Quotas: TypeAlias = Annotated[Mapping[str, int], BeforeValidator(_completed)]
