"""The text of a credential: generated, checked and hashed; never stored or logged."""

import re
import secrets
import string
from dataclasses import dataclass
from hashlib import sha256
from zlib import crc32

from storage.enums import CredentialKind

_BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
_RANDOM, _CHECK = 30, 6
_CLIENT_ID_RANDOM = 24
_CLIENT_ID = re.compile(rf"dg_ci_[0-9A-Za-z]{{{_CLIENT_ID_RANDOM}}}")
# In place of the kind, in the tokens of test workspaces.
_TEST = "test"
PATTERN = re.compile(
    rf"dg_({'|'.join([*CredentialKind, _TEST])})_([0-9A-Za-z]{{{_RANDOM}}})([0-9A-Za-z]{{{_CHECK}}})"
)


@dataclass(frozen=True)
class Credential:
    """A new credential: `text` is shown to its owner once, `hash` is stored."""

    text: str
    hash: str


def mint(kind: CredentialKind) -> Credential:
    """`dg_<kind>_`, 30 random base62 characters and their CRC-32 in 6 base62 digits."""
    return _credential(kind, _random(_RANDOM))


def mint_for_test() -> Credential:
    """A workspace token that begins with `dg_test_`, for a test workspace."""
    return _credential(_TEST, _random(_RANDOM))


def mint_from(kind: CredentialKind, signature: str) -> Credential:
    """The credential that a signature of 43 base64 characters gives; it is as secret as the signing key."""
    letters = [character for character in signature if character in _BASE62]
    return _credential(kind, "".join(letters).ljust(_RANDOM, "0")[:_RANDOM])


def mint_client_id() -> str:
    """The public name of an OAuth client: `dg_ci_` and 24 random base62 characters."""
    return f"dg_ci_{_random(_CLIENT_ID_RANDOM)}"


def is_client_id(text: str) -> bool:
    """Whether the text is a well-formed client_id; nothing else reaches the database."""
    return _CLIENT_ID.fullmatch(text) is not None


def kind_of(text: str) -> CredentialKind | None:
    """The kind of a well-formed credential; None for anything else. The database is not read."""
    match = PATTERN.fullmatch(text)
    if match is None or not secrets.compare_digest(_checksum(match[2]), match[3]):
        return None
    return CredentialKind.WORKSPACE_TOKEN if match[1] == _TEST else CredentialKind(match[1])


def digest(text: str) -> str:
    """SHA-256 in hex. No salt: a credential has 178 random bits, nothing to look up in a table."""
    return sha256(text.encode()).hexdigest()


def _credential(kind: str, random: str) -> Credential:
    text = f"dg_{kind}_{random}{_checksum(random)}"
    return Credential(text, digest(text))


def _random(length: int) -> str:
    return "".join(secrets.choice(_BASE62) for _ in range(length))


def _checksum(random: str) -> str:
    value, digits = crc32(random.encode()), ""
    for _ in range(_CHECK):
        value, digit = divmod(value, 62)
        digits = _BASE62[digit] + digits
    return digits


def bearer_of(authorization: str) -> str | None:
    """The credential in an `Authorization` header (RFC 6750 2.1); None for another scheme."""
    scheme, _, credential = authorization.partition(" ")
    return credential.strip() if scheme.lower() == "bearer" else None
