"""Email addresses: when two are the same, and how mail servers expect a domain."""

import string
import unicodedata

import idna

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold_email(address: str) -> str:
    """One form for all spellings of an address; users, members and customers are looked up by it.

    The address is in NFC with ASCII letters in lower case, its domain in Unicode as IDNA 2008 decodes it.
    Other letters keep their case, which may distinguish mailboxes. `straße` and `strasse` are two domains.
    """
    local, at, domain = unicodedata.normalize("NFC", address).rpartition("@")
    return local.translate(_LOWER) + at + _unicode_domain(domain)


def ascii_domain(domain: str) -> str:
    """The domain as mail servers accept it, by IDNA 2008 (RFC 5891; UTS 46, non-transitional).

    Raises `ValueError` if IDNA 2008 does not allow it.
    """
    return idna.encode(domain, uts46=True, transitional=False).decode()


def _unicode_domain(domain: str) -> str:
    lower = domain.translate(_LOWER)
    if lower.isascii() and "xn--" not in lower:
        return lower
    try:
        return idna.decode(ascii_domain(lower))
    except ValueError:
        # No mail can go to such a domain, but callers may search for any text.
        return lower
