"""Problems of form fields in words for people; the API's messages are for programs."""

import re

from schema.errors import Problem
from schema.languages.speech import noted

_EMPTY = noted("Enter a value")
_WEB_ADDRESS = noted("Enter an address that begins with https:// or http://")
_WORDS = {
    "missing": _EMPTY,
    "email": noted("Enter an email address, such as name@example.com"),
    "email_characters": noted("Enter an email address: use plain letters before the @"),
    "url_parsing": _WEB_ADDRESS,
    "url_scheme": _WEB_ADDRESS,
    "url_syntax_violation": _WEB_ADDRESS,
    "string_pattern_mismatch": "Use lowercase letters a to z and digits, in words joined by hyphens",
    "uuid_parsing": "Enter an id, as the details on the record's page have it",
    "timezone": "Enter an IANA time zone name, such as Europe/Berlin",
    "date_parsing": "Enter a date, such as 2026-01-31",
    "datetime_parsing": "Enter a date and a time, such as 2026-01-31T09:30:00Z",
    "int_parsing": "Enter a whole number",
    "int_type": "Enter a whole number",
    "bool_parsing": "Choose Yes or No",
    "enum": noted("Choose one of the options"),
    "too_short": noted("Choose at least one"),
    "country": noted("Choose a country from the list"),
    "redirect_uri": "Enter complete https addresses, or http addresses of the local machine, without a #",
}
_LENGTH = re.compile(r"String should have (at (?:least|most) \d+ characters?)")
_SUBJECT = re.compile(r"^(?:Input|String|List|Value) should ")


def in_plain_words(problem: Problem) -> str:
    """A sentence about the field, without a full stop."""
    message = str(problem["msg"])
    if problem["type"] in _WORDS:
        return _WORDS[problem["type"]]
    if length := _LENGTH.fullmatch(message):
        return _EMPTY if length[1] == "at least 1 character" else f"Enter {length[1]}"
    return _SUBJECT.sub("This should ", message).replace("`", "")
