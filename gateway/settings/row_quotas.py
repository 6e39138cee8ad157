"""The quotas of rows and bytes by kind, as settings and options of `duograph limits` write them."""

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

# Of texts and metadata.
BYTE_QUOTAS: Mapping[str, int] = {
    "customers": 10 * 1024**3,
    "events": 100 * 1024**3,
    "shares": 10 * 1024**3,
    "custom_fields": 1024**3,
}


def parse_quotas(text: str, kinds: Mapping[str, int] = ROW_QUOTAS) -> dict[str, int]:
    """The numbers by kind in `events=1000, shares=0`. Raises `ValueError` with what the operator can do."""
    quotas = {}
    for part in text.split(","):
        kind, _, number = (each.strip() for each in part.partition("="))
        if kind not in kinds or not (number.isascii() and number.isdigit()):
            raise ValueError(f"{part.strip()!r} is not KIND=N, with one of: {', '.join(kinds)}")
        quotas[kind] = int(number)
        if quotas[kind] > LARGEST_LONG:
            raise ValueError(f"{kind} can be at most {LARGEST_LONG}")
    return quotas


def write_quotas(quotas: Mapping[str, int]) -> str:
    return ", ".join(f"{kind}={number}" for kind, number in quotas.items())


def _completing(defaults: Mapping[str, int]) -> BeforeValidator:
    """Reads the quotas that are written, and takes the defaults for other kinds."""

    def completed(value: Any) -> Any:
        return {**defaults, **parse_quotas(value, defaults)} if isinstance(value, str) else value

    return BeforeValidator(completed)


Quotas: TypeAlias = Annotated[Mapping[str, int], _completing(ROW_QUOTAS)]
ByteQuotas: TypeAlias = Annotated[Mapping[str, int], _completing(BYTE_QUOTAS)]
