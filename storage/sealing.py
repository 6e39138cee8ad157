"""Signatures (HMAC-SHA256 or keyed BLAKE2b) and sealed texts (AES-256-GCM), with a key for each purpose.

No other module uses `hmac` or a cipher, which a test checks. A new use needs a new `Purpose`.
A sealed text is `A256GCM.KEY.CONTENT`, with the id of its key; older ones are the content alone.
"""

import hmac
from base64 import b64decode, b64encode, urlsafe_b64decode
from binascii import b2a_base64
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from enum import StrEnum, unique
from functools import lru_cache
from hashlib import blake2b, sha256
from secrets import token_bytes
from typing import Self

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

ALGORITHM = "A256GCM"

_KEY_BYTES = 32
_ID_BYTES = 4
_NONCE_BYTES = 12
_SIGNATURE_BYTES = 32
# 128 bits are enough: an attacker can only guess a tag by sending requests.
_TAG_BYTES, _TAG_LETTERS = 16, 22
# Of SHA-256.
_BLOCK_BYTES = 64
_IN_URLS = bytes.maketrans(b"+/", b"-_")


@unique
class Purpose(StrEnum):
    """What a key is for. Keys are derived from this text: changing it invalidates everything made before."""

    # That of `Enum` is a function of Python, and kept keys are looked up by it.
    __hash__ = str.__hash__

    BACKUP = "duograph backup"
    CODE_VISITOR = "duograph code visitor"
    DEMO = "duograph demo"
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
    SIGN_UP = "duograph sign-up"
    TOTP = "duograph TOTP"
    TOTP_ENROLMENT = "duograph TOTP enrolment"
    WEBHOOK_SECRET = "duograph webhook secret"  # noqa: S105


class Secret(bytes):
    """The secret key that signs and seals, with the `others` whose signatures and texts are accepted too."""

    others: tuple[bytes, ...]

    def __new__(cls, current: bytes, others: Iterable[bytes] = ()) -> Self:
        secret = super().__new__(cls, current)
        secret.others = tuple(others)
        return secret


class Unreadable(Exception):
    """A sealed text was altered, or was sealed with another secret, purpose or `about`."""


def sign(secret: bytes, purpose: Purpose, *parts: str) -> str:
    """The signature of these parts in this order: 43 characters that are safe in URLs and cookies."""
    return _as_text(_keyed(secret, purpose).digest(b"".join(map(_framed, parts))))


def is_signed(secret: bytes, purpose: Purpose, signature: str, *parts: str) -> bool:
    """Whether `sign` made this signature, compared in constant time."""
    sent = _as_bytes(signature)
    return any(hmac.compare_digest(sent, sign(each, purpose, *parts).encode()) for each in every_key(secret))


def masked(signature: str) -> str:
    """A signature in a text that is another one each time: 86 characters that are safe in URLs and cookies.

    By its length a compressed page gives away a text that it repeats (BREACH), but not one that never comes
    again.
    """
    mask, content = token_bytes(_SIGNATURE_BYTES), _of_text(signature)
    return _as_text(mask + _either(mask, content))


def unmasked(text: str) -> str:
    """The signature that `masked` was given; empty if it did not make the text."""
    try:
        content = _of_text(text)
    except ValueError:
        return ""
    if len(content) != 2 * _SIGNATURE_BYTES:
        return ""
    return _as_text(_either(content[:_SIGNATURE_BYTES], content[_SIGNATURE_BYTES:]))


def signed(secret: bytes, purpose: Purpose, text: str, *about: str) -> str:
    """The text, readable but signed. The signature also covers `about`, which the result does not contain."""
    encoded = _as_text(_as_bytes(text))
    return f"{encoded}.{sign(secret, purpose, encoded, *about)}"


def tagger(secret: bytes, purpose: Purpose, *about: str) -> Callable[[Iterable[bytes]], list[str]]:
    """Makes of texts in UTF-8 what `signed` makes, with short signatures, for many texts about the same.

    A signature is a keyed BLAKE2b (RFC 7693) of what the text is about, which is worked out once, and of the
    text. It takes a third of the time of HMAC-SHA256.
    """
    shared = _shared(secret, purpose, about)

    def sign_texts(texts: Iterable[bytes]) -> list[str]:
        # A page has up to a hundred, and a call for each part of each takes longer than what it does.
        lines: list[bytes] = []
        copy = shared.copy
        for text in texts:
            tag = copy()
            tag.update(text)
            lines += (b2a_base64(text, newline=False), b".", b2a_base64(tag.digest()))
        return b"".join(lines).translate(_IN_URLS, b"=").decode().split()

    return sign_texts


def read_signed(secret: bytes, purpose: Purpose, text: str, *about: str) -> str | None:
    """The text that `signed` or a `tagger` was given; None if the signature is invalid."""
    encoded, _, signature = text.rpartition(".")
    is_made = _is_tagged if len(signature) == _TAG_LETTERS else is_signed
    if not is_made(secret, purpose, signature, encoded, *about):
        return None
    return _decoded(encoded)


def unverified(text: str) -> str:
    """The text in what `signed` or a `tagger` made, if one did: `read_signed` tells. Raises `ValueError`."""
    return _decoded(text.rpartition(".")[0])


def seal(secret: bytes, purpose: Purpose, plain: bytes, about: str) -> str:
    """`plain` encrypted. `about` is not contained, but `unseal` needs the same one."""
    nonce = token_bytes(_NONCE_BYTES)
    content = nonce + _cipher(secret, purpose).encrypt(nonce, plain, about.encode())
    return f"{_beginning(secret)}{b64encode(content).decode()}"


def unseal(secret: bytes, purpose: Purpose, sealed: str, about: str) -> bytes:
    """The bytes that `seal` encrypted. Raises `Unreadable`."""
    beginning, separator, text = sealed.rpartition(".")
    try:
        content = b64decode(text, validate=True)
    except ValueError:
        raise Unreadable from None
    nonce, encrypted = content[:_NONCE_BYTES], content[_NONCE_BYTES:]
    for each in every_key(secret):
        if separator and beginning + separator != _beginning(each):
            continue
        with suppress(InvalidTag, ValueError):
            return _cipher(each, purpose).decrypt(nonce, encrypted, about.encode())
    raise Unreadable


def sealed_anew(secret: bytes, purpose: Purpose, sealed: str, about: str) -> str:
    """The same text sealed by the current key; as it is if that sealed it. Raises `Unreadable`."""
    plain = unseal(secret, purpose, sealed, about)
    return sealed if sealed.startswith(_beginning(secret)) else seal(secret, purpose, plain, about)


def every_key(secret: bytes) -> tuple[bytes, ...]:
    """The current key, and the others that are accepted."""
    return (secret, *secret.others) if isinstance(secret, Secret) else (secret,)


def _decoded(encoded: str) -> str:
    return _of_text(encoded).decode("utf-8", "surrogatepass")


def _beginning(secret: bytes) -> str:
    return f"{ALGORITHM}.{_key(secret, 'duograph key id')[:_ID_BYTES].hex()}."


def _key(secret: bytes, info: str) -> bytes:
    return HKDF(SHA256(), length=_KEY_BYTES, salt=None, info=info.encode()).derive(secret)


class _Keyed:
    """HMAC-SHA256 (RFC 2104) with one key, from two states that each signature copies.

    `hmac` copies six. Its `digest` looks the algorithm up each time, which takes twice as long as that.
    """

    __slots__ = ("_inner", "_outer")

    def __init__(self, key: bytes) -> None:
        block = key.ljust(_BLOCK_BYTES, b"\0")
        self._inner, self._outer = (sha256(bytes(byte ^ pad for byte in block)) for pad in (0x36, 0x5C))

    def digest(self, content: bytes) -> bytes:
        inner, outer = self._inner.copy(), self._outer.copy()
        inner.update(content)
        outer.update(inner.digest())
        return outer.digest()


def _is_tagged(secret: bytes, purpose: Purpose, signature: str, encoded: str, *about: str) -> bool:
    sent = _as_bytes(signature)
    with suppress(ValueError):
        content = _of_text(encoded)
        # Base64 has several texts for the same bytes; one of them was made.
        if _as_text(content) != encoded:
            return False
        for each in every_key(secret):
            tag = _shared(each, purpose, about)
            tag.update(content)
            if hmac.compare_digest(sent, _encoded(tag.digest())):
                return True
    return False


def _shared(secret: bytes, purpose: Purpose, about: Sequence[str]) -> blake2b:
    """The state of a tag before its text, with the number of parts: no others give the same bytes."""
    state = _tagging(secret, purpose).copy()
    state.update(b"".join([len(about).to_bytes(8), *map(_framed, about)]))
    return state


@lru_cache(maxsize=64)
def _tagging(secret: bytes, purpose: Purpose) -> blake2b:
    """The first state of all tags, which is only copied."""
    return blake2b(key=_key(secret, f"tag {purpose}"), digest_size=_TAG_BYTES)


@lru_cache(maxsize=64)
def _keyed(secret: bytes, purpose: Purpose) -> _Keyed:
    return _Keyed(_key(secret, f"sign {purpose}"))


def _cipher(secret: bytes, purpose: Purpose) -> AESGCM:
    return AESGCM(_key(secret, purpose))


def _framed(part: str) -> bytes:
    """The part after its length, so that no other parts give the same bytes."""
    content = _as_bytes(part)
    return len(content).to_bytes(8) + content


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _as_text(content: bytes) -> str:
    return _encoded(content).decode()


def _encoded(content: bytes) -> bytes:
    """Base64 that is safe in URLs, without padding."""
    return b2a_base64(content, newline=False).translate(_IN_URLS, b"=")


def _of_text(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _either(one: bytes, other: bytes) -> bytes:
    return bytes([left ^ right for left, right in zip(one, other, strict=True)])
