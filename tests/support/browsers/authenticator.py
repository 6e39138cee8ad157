"""An authenticator in software: makes and uses passkeys as browsers do, and lies where it is told to."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from hashlib import sha256
from secrets import token_bytes
from typing import Any

import cbor2
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256

PRESENT, VERIFIED, ATTESTED = 1, 4, 64


@dataclass
class Authenticator:
    """One passkey of one authenticator, for the site at `origin`; `sign_count` is what it says next."""

    origin: str = "https://gateway"
    rp_id: str = "gateway"
    credential_id: bytes = field(default_factory=lambda: token_bytes(32))
    sign_count: int = 1
    verifies: bool = True
    user_handle: str | None = None
    key: Any = field(default_factory=lambda: generate_private_key(SECP256R1()))

    def create(self, options: str) -> str:
        """What `navigator.credentials.create` gives for the options of a page, as its script sends it."""
        asked = json.loads(options)
        self.user_handle = asked["user"]["id"]
        attested = bytes(16) + len(self.credential_id).to_bytes(2) + self.credential_id + self._public_key()
        data = self._data(ATTESTED) + attested
        self._count()
        statement = {"fmt": "none", "attStmt": {}, "authData": data}
        response = {
            "clientDataJSON": _text(self._client_data("webauthn.create", asked["challenge"])),
            "attestationObject": _text(cbor2.dumps(statement)),
            "transports": ["internal"],
        }
        return self._credential(response)

    def use(self, options: str, **changes: Any) -> str:
        """What `navigator.credentials.get` gives; `changes` replace parts of the response."""
        client_data = self._client_data("webauthn.get", json.loads(options)["challenge"])
        data = self._data()
        signature = self.key.sign(data + sha256(client_data).digest(), ECDSA(SHA256()))
        self._count()
        response = {
            "clientDataJSON": _text(client_data),
            "authenticatorData": _text(data),
            "signature": _text(signature),
            "userHandle": self.user_handle,
        }
        return self._credential(response | changes)

    def _count(self) -> None:
        self.sign_count += 1 if self.sign_count else 0

    def _credential(self, response: dict[str, Any]) -> str:
        id = _text(self.credential_id)
        return json.dumps({"id": id, "rawId": id, "type": "public-key", "response": response})

    def _client_data(self, kind: str, challenge: str) -> bytes:
        return json.dumps({"type": kind, "challenge": challenge, "origin": self.origin}).encode()

    def _data(self, flags: int = 0) -> bytes:
        flags |= PRESENT | (VERIFIED if self.verifies else 0)
        return sha256(self.rp_id.encode()).digest() + bytes([flags]) + self.sign_count.to_bytes(4)

    def _public_key(self) -> bytes:
        """In COSE: an ES256 key on P-256."""
        numbers = self.key.public_key().public_numbers()
        return cbor2.dumps({1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)})


def from_text(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))


def _text(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()
