"""The language and the locale of a page: chosen, the workspace's, or the browser's."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial

from starlette.requests import Request
from starlette.responses import Response

from gateway.web.kit.cookies import Cookies
from resolvers.operations.context import Caller
from schema.languages.speech import ENGLISH, Speech, current_speech, speaking
from storage.enums import Language

LANGUAGE = "duograph_language"
LANGUAGE_KEPT = 365 * 24 * 60 * 60
# Each in its own words, in the order of the alphabet.
NAMES = {
    Language.DE: "Deutsch",
    Language.EN: "English",
    Language.ES: "Español",
    Language.FR: "Français",
    Language.PT: "Português",
    Language.JA: "日本語",
}
_MOST_TAGS, _LONGEST_HEADER = 10, 200
_NAMES_OF_LOCALES = """
bg ca cs da de de_AT de_CH el en_AU en_CA en_GB en_IE en_IN en_NZ en_US en_ZA es es_AR es_CL es_CO es_MX et
fi fr fr_BE fr_CA fr_CH hi hr hu id it it_CH ja ko lt lv ms nb nl nl_BE pl pt pt_PT ro ru sk sl sv th tr uk
vi zh zh_Hant
"""
# Babel has a thousand, which would take 190 MB of memory once all were asked for. These are written from
# left to right, and forms read the amounts of each.
LOCALES = tuple(_NAMES_OF_LOCALES.split())
_LOCALES = {name.casefold(): name for name in LOCALES} | {
    "en": ENGLISH.locale,
    "no": "nb",
    "zh_hk": "zh_Hant",
    "zh_tw": "zh_Hant",
}


def read_language(text: str | None) -> Language | None:
    """The language of this code; None for any other text."""
    return Language(text) if text in set(Language) else None


def words_of(request: Request, *preferred: Language | None) -> Speech:
    """The speech of a translated page: of the first of `preferred` that is not None, else of the browser."""
    locales = locales_of(request)
    chosen = next((each for each in preferred if each is not None), None)
    for locale in locales:
        language = read_language(locale.partition("_")[0])
        if language is not None and chosen in (None, language):
            return Speech(language, locale)
    return ENGLISH if chosen in (None, Language.EN) else Speech(chosen, chosen.value)


def formats_of(request: Request, *preferred: Language | None) -> Speech:
    """The speech of a member's page: English words, and a locale that is found in the same way."""
    chosen, locales = next((each for each in preferred if each is not None), None), locales_of(request)
    for locale in locales:
        if chosen is None or locale.partition("_")[0] == chosen:
            return Speech(Language.EN, locale)
    return ENGLISH if chosen in (None, Language.EN) else Speech(Language.EN, chosen.value)


@contextmanager
def spoken(caller: Caller, speech: Speech) -> Iterator[None]:
    """Answer in this speech, or in the one that the page goes on in, and write emails in it afterwards."""
    with speaking(speech):
        yield
        speech = current_speech()
    caller.after_response[:] = [partial(_speak, speech, action) for action in caller.after_response]


async def _speak(speech: Speech, action: Callable[[], Awaitable[None]]) -> None:
    with speaking(speech):
        await action()


def locales_of(request: Request) -> tuple[str, ...]:
    """The locales of ours that the browser accepts, the most wanted first."""
    return _accepted(request.headers.get("accept-language", "")[:_LONGEST_HEADER])


def kept_language(request: Request, cookies: Cookies) -> Language | None:
    """The language that was chosen in this browser."""
    return read_language(cookies.read(request, LANGUAGE))


def keep_language(response: Response, cookies: Cookies, language: Language) -> None:
    """Store the chosen language in the browser."""
    cookies.write(response, LANGUAGE, language.value, seconds=LANGUAGE_KEPT)


@lru_cache(maxsize=256)
def _accepted(header: str) -> tuple[str, ...]:
    tags = [part.partition(";") for part in header.split(",")[:_MOST_TAGS]]
    weighed = [(_weight(parameters), tag.strip()) for tag, _, parameters in tags]
    wanted = sorted((pair for pair in weighed if pair[0] > 0), key=lambda pair: -pair[0])
    return tuple(dict.fromkeys(locale for _, tag in wanted if (locale := _known(tag)) is not None))


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    try:
        return float(value) if name.strip() == "q" else 1
    except ValueError:
        return 0


def _known(tag: str) -> str | None:
    """The locale of the tag, or else of its language; English without a region is ours."""
    whole = tag.replace("-", "_").casefold()
    return _LOCALES.get(whole) or _LOCALES.get(whole.partition("_")[0])
