"""The catalogues of `catalogues/*.po`, which are read when their language is first used.

They are not compiled: a wheel has no build step then, and what is reviewed is what is served.
"""

from functools import cache
from gettext import GNUTranslations
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from storage.enums import Language

FOLDER = Path(__file__).parent / "catalogues"


@cache
def catalogue_of(language: Language) -> GNUTranslations:
    """The translations of a language; those of English are the messages themselves."""
    compiled = BytesIO()
    write_mo(compiled, read_catalogue(language))
    compiled.seek(0)
    return GNUTranslations(compiled)


def read_catalogue(language: Language) -> Catalog:
    """The catalogue as translators edit it; an empty one for English."""
    if language is Language.EN:
        return Catalog(language.value)
    with path_of(language).open("rb") as file:
        return read_po(file, locale=language.value)


def path_of(language: Language) -> Path:
    return FOLDER / f"{language}.po"
