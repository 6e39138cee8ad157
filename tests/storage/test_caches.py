"""What the process remembers is bounded in bytes."""

import tracemalloc

import pytest

from storage.caches import SharedCache, cached
from storage.metrics.cells import period_sql, tiling
from storage.metrics.cells.tiling import REMEMBERED_BYTES, Grain

HOURS_OF_A_YEAR = 8_761


def test_a_result_is_remembered_until_newer_ones_take_its_bytes():
    calls = []

    @cached(100, lambda result, number: 40)
    def half(number: int) -> float | None:
        """Half of it."""
        calls.append(number)
        return number / 2 if number else None

    assert [half(1), half(0), half(1), half(0)] == [0.5, None, 0.5, None]
    assert calls == [1, 0]
    assert [half(2), half(0), half(1)] == [1, None, 0.5]
    assert calls == [1, 0, 2, 1]
    half.cache_clear()
    assert half(1) == 0.5
    assert calls == [1, 0, 2, 1, 1]
    assert half.__doc__ == "Half of it."


def test_an_owner_with_more_than_its_share_loses_its_own_values_and_of_all_the_least_recent_owner_does():
    cache = SharedCache[str, int, str](largest=100, share=60)
    for key in (1, 2, 3):
        cache.keep("a", key, f"a{key}", 30)
    cache.keep("b", 1, "b1", 30)
    assert [cache.get("a", key) for key in (1, 2, 3)] == [None, "a2", "a3"]
    cache.keep("c", 1, "c1", 20)
    assert cache.get("b", 1) is None
    assert (cache.size, list(cache.parts)) == (80, ["a", "c"])
    # What is larger than a share is not kept, and pushes out what its owner has.
    cache.keep("c", 2, "c2", 70)
    cache.keep("d", 1, "d1", 70)
    assert (cache.size, list(cache.parts), cache.get("a", 3)) == (60, ["a"], "a3")


@pytest.mark.parametrize(
    "remember",
    [
        lambda edges: tiling.make_cover(edges, (Grain.HOUR,)),
        period_sql.runs,
    ],
    ids=["cover", "runs"],
)
def test_ranges_of_many_hours_are_not_remembered_without_a_bound(remember):
    tracemalloc.start()
    try:
        for number in range(30):
            remember(tuple(number + 3_600_000_000 * hour for hour in range(HOURS_OF_A_YEAR)))
        assert tracemalloc.get_traced_memory()[0] < 2 * REMEMBERED_BYTES
    finally:
        tracemalloc.stop()
