"""E-mail addresses: when two are the same, and how a domain is written for mail servers."""

import string
import unicodedata

import idna

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold_email(address: str) -> str:
    """What all spellings of one address have in common; users, members and customers are found by it.

    The address in NFC with ASCII letters in lower case, the domain in Unicode as IDNA 2008 reads it. Other
    letters keep their case: mailboxes of one host may differ in them. `straße` and `strasse` are two domains.
    """
    local, at, domain = unicodedata.normalize("NFC", address).rpartition("@")
    return local.translate(_LOWER) + at + _unicode_domain(domain)


def ascii_domain(domain: str) -> str:
    """The domain as mail servers take it, by IDNA 2008 (RFC 5891; UTS 46 without its transitional mappings).

    Raises `ValueError` for one that IDNA 2008 does not allow.
    """
    return idna.encode(domain, uts46=True, transitional=False).decode()


def _unicode_domain(domain: str) -> str:
    lower = domain.translate(_LOWER)
    if lower.isascii() and "xn--" not in lower:
        return lower
    try:
        return idna.decode(ascii_domain(lower))
    except ValueError:
        # Not a domain that mail could go to; what a caller searches for may be anything.
        return lower
