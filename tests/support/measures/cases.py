"""How many random cases a property is tried on: few in each run of the tests, `CASES` where somebody asks."""

import os

ASKED = int(os.environ.get("CASES", "0"))


def cases(usual: int, variants: int = 1) -> int:
    """The cases of each of so many variants of a property, such as operations, surfaces or databases.

    `usual` is for each variant, `CASES` for all of them together.
    """
    return -(-ASKED // variants) or usual
