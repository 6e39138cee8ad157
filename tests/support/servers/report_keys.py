"""A real server of the public keys that leak reports are signed with, and their private halves."""

import json
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from uuid import uuid4

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@dataclass
class KeyServer:
    """Publishes `keys`; `fetches` counts how often it was asked. `status` other than 200 is an outage."""

    url: str = ""
    keys: dict[str, Any] = field(default_factory=dict)
    fetches: int = 0
    status: int = 200
    others: list[dict[str, str]] = field(default_factory=list)

    def add_key(self, private: Any = None) -> str:
        """Publish a key and give its name."""
        name = uuid4().hex
        self.keys[name] = private or ec.generate_private_key(ec.SECP256R1())
        return name

    def sign(self, name: str, body: bytes) -> dict[str, str]:
        """The headers of a report."""
        signature = self.keys[name].sign(body, ec.ECDSA(SHA256()))
        return {
            "Github-Public-Key-Identifier": name,
            "Github-Public-Key-Signature": b64encode(signature).decode(),
        }

    @property
    def document(self) -> bytes:
        published = [
            {"key_identifier": name, "key": pem_of(key), "is_current": True}
            for name, key in self.keys.items()
        ]
        return json.dumps({"public_keys": [*self.others, *published]}).encode()


def pem_of(private: Any) -> str:
    return private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


@contextmanager
def serve_keys() -> Iterator[KeyServer]:
    served = KeyServer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            served.fetches += 1
            self.send_response(served.status)
            self.end_headers()
            self.wfile.write(served.document)

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}/keys"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()
