"""Signatures (HMAC-SHA256) and sealed texts (AES-256-GCM): each purpose has a key of its own.

Nothing else here uses `hmac` or a cipher; a test keeps it. A new use gets a `Purpose`.
"""

import hmac
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from enum import StrEnum, unique
from functools import lru_cache
from secrets import token_bytes

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_KEY_BYTES = 32
_NONCE_BYTES = 12


@unique
class Purpose(StrEnum):
    """What a key is for. Its text goes into the derivation: nothing made before it changed is readable."""

    CODE_VISITOR = "duograph code visitor"
    FORM = "duograph form"
    IDEMPOTENT_ANSWER = "duograph idempotent answer"
    KNOWN_BROWSER = "duograph known browser"
    LIST_CURSOR = "duograph list cursor"
    NOTICE = "duograph notice"
    OBJECT_URL = "duograph object URL"
    PASSKEY_CHALLENGE = "duograph passkey challenge"
    PORTAL_CODE = "duograph portal code"
    PORTAL_RECIPIENT = "duograph portal recipient"
    RECOVERY_CODE = "duograph recovery code"
    REFRESH_ANSWER = "duograph refresh answer"
    SIGN_IN_SUBJECT = "duograph sign-in subject"
    SIGNING_KEY = "duograph signing keys"
    TOTP = "duograph TOTP"
    TOTP_ENROLMENT = "duograph TOTP enrolment"


class Unreadable(Exception):
    """A sealed text that was altered, or that has another secret, another purpose or another `about`."""


def sign(secret: bytes, purpose: Purpose, *parts: str) -> str:
    """A signature of the parts in their order: 43 characters that are safe in addresses and cookies."""
    framed = b"".join(_framed(part) for part in parts)
    return _as_text(hmac.digest(_signing_key(secret, purpose), framed, "sha256"))


def is_signed(secret: bytes, purpose: Purpose, signature: str, *parts: str) -> bool:
    """Whether `sign` made the signature; takes the same time wherever it differs."""
    return hmac.compare_digest(_as_bytes(signature), sign(secret, purpose, *parts).encode())


def signed(secret: bytes, purpose: Purpose, text: str, *about: str) -> str:
    """The text, readable by anyone, with a signature of it and of what it is about, which is not in it."""
    carried = _as_text(_as_bytes(text))
    return f"{carried}.{sign(secret, purpose, carried, *about)}"


def read_signed(secret: bytes, purpose: Purpose, text: str, *about: str) -> str | None:
    """What `signed` was told; None for any other text."""
    carried, _, signature = text.rpartition(".")
    if not is_signed(secret, purpose, signature, carried, *about):
        return None
    padding = "=" * (-len(carried) % 4)
    return urlsafe_b64decode(carried + padding).decode("utf-8", "surrogatepass")


def seal(secret: bytes, purpose: Purpose, plain: bytes, about: str) -> str:
    """`plain` encrypted, in base64; `about` is not in it but has to be repeated to open it."""
    nonce = token_bytes(_NONCE_BYTES)
    return b64encode(nonce + _cipher(secret, purpose).encrypt(nonce, plain, about.encode())).decode()


def unseal(secret: bytes, purpose: Purpose, sealed: str, about: str) -> bytes:
    """Raises `Unreadable`."""
    try:
        opened = b64decode(sealed, validate=True)
        nonce, encrypted = opened[:_NONCE_BYTES], opened[_NONCE_BYTES:]
        return _cipher(secret, purpose).decrypt(nonce, encrypted, about.encode())
    except (InvalidTag, ValueError):
        raise Unreadable from None


def _key(secret: bytes, info: str) -> bytes:
    return HKDF(SHA256(), length=_KEY_BYTES, salt=None, info=info.encode()).derive(secret)


@lru_cache(maxsize=64)
def _signing_key(secret: bytes, purpose: Purpose) -> bytes:
    return _key(secret, f"sign {purpose}")


def _cipher(secret: bytes, purpose: Purpose) -> AESGCM:
    return AESGCM(_key(secret, purpose))


def _framed(part: str) -> bytes:
    """With its length before it, so that no other parts make up the same bytes."""
    content = _as_bytes(part)
    return len(content).to_bytes(8) + content


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _as_text(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()
