"""The secret key of a development environment, generated once and stored in a file."""

import os
import secrets
from pathlib import Path

SECRET_PATH = Path("var/secret-key")


def kept_secret() -> bytes:
    """The content of `var/secret-key`, which is created on first use."""
    if not SECRET_PATH.exists():
        _make_secret()
    return SECRET_PATH.read_bytes()


def _make_secret() -> None:
    """Write a temporary file and link it into place, so that no other process reads half a secret."""
    SECRET_PATH.parent.mkdir(parents=True, exist_ok=True)
    draft = SECRET_PATH.with_name(f"secret-key-{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_hex(32))
    try:
        SECRET_PATH.hardlink_to(draft)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
