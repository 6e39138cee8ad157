"""How the surfaces refuse a call, as most tests ask for it."""

from collections.abc import Awaitable
from typing import Any

import pytest

from tests.support.callers.surfaces import Refused

# No row has this id.
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


async def refused(call: Awaitable[Any], status: int, code: str) -> Refused:
    """The failure of a call that must fail with this status and code."""
    with pytest.raises(Refused) as raised:
        await call
    assert (raised.value.status, raised.value.code) == (status, code)
    return raised.value


async def refusal(call: Awaitable[Any]) -> dict[tuple[Any, ...], str]:
    """The problems of a call whose input is invalid: their types by place."""
    return (await refused(call, 422, "invalid")).problems
