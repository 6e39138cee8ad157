"""Passwords: argon2, by pwdlib."""

from pwdlib import PasswordHash

_hasher = PasswordHash.recommended()
_NOBODY = _hasher.hash("a password that nobody has")


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def verify_password(password: str, password_hash: str | None) -> bool:
    """Whether it fits; with no hash (an unknown address) it takes the same time and says no."""
    fits = _hasher.verify(password, password_hash or _NOBODY)
    return fits and password_hash is not None
