"""Sizes as people read them: one function for the API, the portal and the command line."""

import pytest

from schema.values.prose import write_size


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (512, "512 B"),
        (1023, "1023 B"),
        (1024, "1.0 KB"),
        (1536, "1.5 KB"),
        (1024**2 - 1, "1.0 MB"),
        (4_404_019, "4.2 MB"),
        (1024**3, "1.0 GB"),
        (5 * 1024**3, "5.0 GB"),
        (1024**4 - 1, "1.0 TB"),
        (5 * 1024**4, "5.0 TB"),
        (2**53 - 1, "8.0 PB"),
        (2048 * 1024**5, "2048.0 PB"),
    ],
)
def test_sizes_read_in_steps_of_1024(size: int, text: str) -> None:
    assert write_size(size) == text
