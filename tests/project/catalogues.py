"""`python -m tests.project.catalogues [--check]`: bring the catalogues up to the texts of pages and emails.

New texts are added without a translation, and those that are gone are removed. With `--check`, fails if a
catalogue differs.
"""

import sys
from functools import cache
from io import SEEK_END, BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import write_po

from schema.languages.catalogues import path_of, read_catalogue
from storage.enums import Language

ROOT = Path(__file__).parents[2]
FOLDERS = ("gateway/web", "resolvers")
METHODS = [("**/static/**", "ignore"), ("**/bundles/**", "ignore"), ("**.py", "python")]
TEMPLATES = [("**/templates/**.html", "jinja2"), ("**/templates/**.txt", "jinja2")]
OPTIONS = {"**/templates/**": {"trimmed": "true"}}
KEYWORDS = {"_": None, "gettext": None, "noted": None, "ngettext": (1, 2)}
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Plural-Forms: {plurals}\\n"

"""
TRANSLATED = [language for language in Language if language is not Language.EN]


@cache
def texts() -> Catalog:
    """The texts of the product, without translations."""
    catalogue = Catalog()
    for folder in FOLDERS:
        found = extract_from_dir(ROOT / folder, [*METHODS, *TEMPLATES], OPTIONS, KEYWORDS)
        for _, _, message, _, _ in found:
            catalogue.add(message)
    return catalogue


def renewed(language: Language, template: Catalog) -> bytes:
    """The file of a language with exactly the texts of `template`."""
    catalogue = read_catalogue(language) if path_of(language).exists() else Catalog(language.value)
    catalogue.update(template, no_fuzzy_matching=True)
    header = HEADER.format(language=language.value, plurals=catalogue.plural_forms)
    written = BytesIO(header.encode())
    written.seek(0, SEEK_END)
    # Babel's own header has the time of the run.
    write_po(
        written,
        catalogue,
        width=110,
        no_location=True,
        omit_header=True,
        sort_output=True,
        ignore_obsolete=True,
    )
    return written.getvalue()


def main() -> int:
    template, is_checked, faults = texts(), "--check" in sys.argv[1:], 0
    for language in TRANSLATED:
        path, content = path_of(language), renewed(language, template)
        if is_checked:
            if path.read_bytes() != content:
                faults += 1
                sys.stderr.write(f"{path.relative_to(ROOT)} differs: run `make generated`.\n")
        else:
            path.write_bytes(content)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
