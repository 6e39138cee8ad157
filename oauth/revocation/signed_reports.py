"""GitHub's signed reports: its public keys, fetched when needed, and the check of a signature."""

import asyncio
import binascii
from base64 import b64decode
from datetime import datetime, timedelta

import httpx
import structlog
from aiolimiter import AsyncLimiter
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from pydantic import BaseModel, ValidationError

from storage.clock import now

log = structlog.get_logger("duograph.signed_reports")

KEYS_LAST = timedelta(hours=1)
FETCHES, FETCHES_SECONDS = 5, 300
PATIENCE_SECONDS = 10
LARGEST_ANSWER = 1024 * 1024

PublicKeys = dict[str, ec.EllipticCurvePublicKey]


class KeysOutOfReach(Exception):
    """No keys are cached and none can be fetched."""


class _Key(BaseModel):
    key_identifier: str
    key: str


class _Keys(BaseModel):
    public_keys: list[_Key]


class ReportKeys:
    """The keys at `url`, cached for an hour, or longer if they cannot be fetched again.

    An unknown key may be new, so the keys are fetched again; since strangers can name any key, at most five
    times in five minutes.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._keys: PublicKeys = {}
        self._fetched_at: datetime | None = None
        self._fetching = asyncio.Lock()
        self._fetches = AsyncLimiter(FETCHES, FETCHES_SECONDS)

    async def find(self, identifier: str) -> ec.EllipticCurvePublicKey | None:
        """The key with this identifier; None if it is unknown. Raises `KeysOutOfReach`."""
        async with self._fetching:
            if (identifier not in self._keys or self._are_old()) and self._fetches.has_capacity():
                await self._fetches.acquire()
                await self._fetch()
        if self._fetched_at is None:
            raise KeysOutOfReach
        return self._keys.get(identifier)

    def _are_old(self) -> bool:
        return self._fetched_at is None or now() - self._fetched_at > KEYS_LAST

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                self._keys = _parse(await self._read())
        except (httpx.HTTPError, TimeoutError, ValidationError, ValueError) as error:
            log.warning("keys of leak reports cannot be fetched", url=self._url, reason=type(error).__name__)
        else:
            self._fetched_at = now()

    async def _read(self) -> bytes:
        content = b""
        async with httpx.AsyncClient() as client, client.stream("GET", self._url) as answer:
            answer.raise_for_status()
            async for chunk in answer.aiter_bytes():
                content += chunk
                if len(content) > LARGEST_ANSWER:
                    raise ValueError("too large")
        return content


def is_signed(content: bytes, signature: str, key: ec.EllipticCurvePublicKey) -> bool:
    """Whether the Base64 text is the key's ECDSA signature, with SHA-256, of these bytes."""
    try:
        key.verify(b64decode(signature, validate=True), content, ec.ECDSA(SHA256()))
    except (InvalidSignature, binascii.Error, ValueError):
        return False
    return True


def _parse(content: bytes) -> PublicKeys:
    keys: PublicKeys = {}
    for entry in _Keys.model_validate_json(content).public_keys:
        try:
            key = load_pem_public_key(entry.key.encode())
        except (ValueError, UnsupportedAlgorithm):
            continue
        if isinstance(key, ec.EllipticCurvePublicKey) and isinstance(key.curve, ec.SECP256R1):
            keys[entry.key_identifier] = key
    return keys
