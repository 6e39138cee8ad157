"""Names that people read: cleaned of what cannot be seen, and with enough left to be seen."""

import unicodedata
from dataclasses import dataclass

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

from schema.scalars import check_text
from storage.visible_text import clean_name, count_visible

OUR_NAME = "duograph"


@dataclass(frozen=True)
class Name:
    """Cleans a name that was sent. Raises for one with fewer than `least` characters that can be seen."""

    least: int = 1

    def __call__(self, text: str | None) -> str | None:
        if text is None:
            return None
        check_text(text)
        name = clean_name(text)
        if count_visible(name) < self.least:
            characters = "1 visible character" if self.least == 1 else f"{self.least} visible characters"
            raise PydanticCustomError(
                "name_invisible", "Input should have at least {characters}", {"characters": characters}
            )
        return name


def _not_ours(name: str) -> str:
    letters = filter(str.isalnum, unicodedata.normalize("NFKC", name).casefold())
    if "".join(letters) == OUR_NAME:
        raise PydanticCustomError("name_reserved", "Input should not be the name of this service")
    return name


# For inputs only: what is stored was a name when it was taken, and stays readable.
NAMED = AfterValidator(Name())
NAMED_BY_3 = AfterValidator(Name(3))
NOT_OURS = AfterValidator(_not_ours)
