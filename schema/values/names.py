"""Names for people: invisible characters are removed, and enough visible ones have to remain."""

import unicodedata
from dataclasses import dataclass

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from schema.values.scalars import check_text
from storage.visible_text import clean_name, count_characters

OUR_NAME = "duograph"


@dataclass(frozen=True)
class Name:
    """Cleans a name. Raises if it is then empty or has fewer than `least` characters.

    Spaces inside the name count as characters; joiners and variation selectors do not.
    """

    least: int = 1

    def __call__(self, text: str | None) -> str | None:
        if text is None:
            return None
        check_text(text)
        name = clean_name(text)
        if not name:
            raise PydanticCustomError("name_invisible", "Input should have at least 1 visible character")
        if count_characters(name) < self.least:
            raise PydanticCustomError(
                "string_too_short", "Input should have at least {least} characters", {"least": self.least}
            )
        return name


def _not_ours(name: str) -> str:
    letters = filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold())
    if "".join(letters) == OUR_NAME:
        raise PydanticCustomError("name_reserved", "Input should not be the name of this service")
    return name


# For inputs only: stored names were valid when they were accepted, and stay readable.
NAMED = AfterValidator(Name())
NAMED_BY_3 = AfterValidator(Name(3))
NOT_OURS = AfterValidator(_not_ours)
