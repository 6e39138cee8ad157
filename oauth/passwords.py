"""Passwords: argon2, by pwdlib."""

from functools import cache

from pwdlib import PasswordHash

_hasher = PasswordHash.recommended()


@cache
def _nobodys_hash() -> str:
    """Something to compare with where there is no user; made on first use, as it takes a quarter second."""
    return _hasher.hash("a password that nobody has")


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def verify_password(password: str, password_hash: str | None) -> bool:
    """Whether it fits; with no hash (an unknown address) it takes the same time and says no."""
    fits = _hasher.verify(password, password_hash or _nobodys_hash())
    return fits and password_hash is not None
