"""Texts that scripts write into pages, in the language of the page."""

from schema.languages.speech import gettext


def password_words() -> dict[str, str | list[str]]:
    """Of a password field, for passwords.js; `scores` are the judgements from 0 to 4."""
    very_easy = gettext("Very easy to guess")
    return {
        "show": gettext("Show password"),
        "hide": gettext("Hide password"),
        "short": gettext("Too short"),
        "scores": [very_easy, very_easy, gettext("Easy to guess"), gettext("Strong"), gettext("Very strong")],
    }


def passkey_words(address: str) -> dict[str, str]:
    """Of a form that uses a passkey, for passkeys.js: what went wrong, by the name of the error.

    `address` is that of our pages: passkeys belong to its host.
    """
    return {
        "NotAllowedError": gettext("That was cancelled or took too long. Try again."),
        "SecurityError": gettext("Passkeys work only at %(address)s. Open this page there.", address=address),
        "": gettext("The browser could not use a passkey. Try again."),
    }
