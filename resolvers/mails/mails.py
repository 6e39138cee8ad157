"""Emails from templates, as text and as HTML, with every value cleaned that a user wrote."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from resolvers.mails.brands import DUOGRAPH, Brand
from resolvers.operations.context import Context
from schema.languages.speech import current_speech, gettext, language_of_page, noted, speaking, speech_in
from schema.languages.templates import translate
from storage.enums import Language
from storage.queues.mails import NO_RECIPIENT, Mail, write_mails

TEMPLATE_FOLDER = Path(__file__).parent / "templates"
# Template variables with our own texts, or with validated addresses. All others hold text that a user wrote
# and are cleaned, new variables included.
VERBATIM = frozenset(
    {
        "address",
        "amount",
        "code",
        "contact",
        "creator_address",
        "day",
        "ends",
        "forgotten",
        "happened",
        "home",
        "inviter_address",
        "link",
        "new_address",
        "noun",
        "page",
        "payer_address",
        "portal",
        "security",
        "subject",
        "url",
    }
)
# Emails that a person waits for are sent before all others.
URGENT = frozenset({"account_exists", "forgotten_password", "portal_code", "sign_up"})

LONGEST_NAME = 60
UNNAMED = noted("(no name)")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:/+|:/+")
# A dot before two letters: mail programs make a link of `evil.test` alone, but not of `J. R. Smith`.
_DOTS = re.compile(r"[.\u3002]+(?=[^\W\d_]{2})")
_BETWEEN = r"[\s().\-\u2010-\u2015/]*"
_TELEPHONE = re.compile(rf"\+{_BETWEEN}\d(?:{_BETWEEN}\d)*|\d(?:{_BETWEEN}\d){{5,}}")


class Reader(NamedTuple):
    """Whom an email is for, and the language that they chose, if any."""

    address: str
    language: str | None


# For emails that are made, so that they take their time, and never sent.
NOBODY = Reader(NO_RECIPIENT, None)


@cache
def templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATE_FOLDER),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["speech"] = current_speech
    translate(environment)
    return environment


def make_mail(
    to: str,
    template: str,
    *,
    brand: Brand = DUOGRAPH,
    language: Language | str | None = None,
    **values: Any,
) -> Mail:
    """Render the template's two files in the brand's look; the first line of `{template}.txt` is the subject.

    Values are cleaned by `plain_name` unless their variable is in `VERBATIM`; the brand's name always is.
    Functions are called for theirs, so that amounts and dates are of the `language`, by default English.
    """
    with speaking(speech_in(language)):
        return _render(to, template, brand, values)


def make_mails(readers: Iterable[Reader], template: str, **values: Any) -> list[Mail]:
    """The same for each of the readers, in the language that they chose."""
    return [make_mail(to, template, language=language, **values) for to, language in readers]


def make_own_mail(to: str, template: str, *, language: str | None, **values: Any) -> Mail:
    """The same for a reader who asked for it on a page: in their language, else in that of the page."""
    return make_mail(to, template, language=language or language_of_page(), **values)


def _render(to: str, template: str, brand: Brand, values: dict[str, Any]) -> Mail:
    cleaned = {name: _cleaned(name, value) for name, value in values.items()}
    rendered = templates().get_template(f"{template}.txt").render(cleaned)
    subject, _, text = rendered.partition("\n\n")
    look = {"name": plain_name(brand.name), "colour": brand.colour, "picture": brand.picture}
    shared = {"subject": subject, "brand": {**look, "is_ours": brand is DUOGRAPH}}
    html = templates().get_template(f"{template}.html").render({**cleaned, **shared})
    signed = f"{text.rstrip()}\n\n-- \n{look['name']}\n"
    return Mail(to, subject, signed, html, is_urgent=template in URGENT)


def plain_name(text: str) -> str:
    """A name as an email shows it: one line of at most 60 characters, without links and telephone numbers.

    Emails come from our address, so recipients would believe a message hidden in a name.
    """
    composed = unicodedata.normalize("NFKC", text)
    shown = "".join(
        " " if character.isspace() else character
        for character in composed
        if character.isspace() or unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
    )
    plain = _DOTS.sub(" ", _TELEPHONE.sub("\N{HORIZONTAL ELLIPSIS} ", _SCHEME.sub(" ", shown)))
    name = " ".join(plain.split())
    if len(name) > LONGEST_NAME:
        name = name[: LONGEST_NAME - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return name or (gettext(UNNAMED) if text else "")


def _cleaned(name: str, value: Any) -> Any:
    if callable(value):
        # Our own texts: spaces in amounts do not break.
        return value()
    if isinstance(value, str):
        return " ".join(value.split()) if name in VERBATIM else plain_name(value)
    if isinstance(value, list):
        return [_cleaned(name, item) for item in value]
    if isinstance(value, dict):
        return {key: _cleaned(key, item) for key, item in value.items()}
    return value


async def send_mails(ctx: Context, mails: Sequence[Mail], workspace_id: UUID | None = None) -> None:
    """Send the emails once the change in progress is committed."""
    if not mails:
        return
    await write_mails(ctx.connection, mails, workspace_id)

    async def wake() -> None:
        ctx.services.wake_delivery()

    ctx.afterwards.append(wake)
