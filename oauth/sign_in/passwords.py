"""Passwords: argon2, by pwdlib."""

import asyncio
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from pwdlib import PasswordHash

from oauth.sign_in.password_strength import is_easy_to_guess

_hasher = PasswordHash.recommended()
# Argon2 takes 64 MiB and up to a second, so it runs in a few threads beside the event loop.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="passwords")


@cache
def _placeholder_hash() -> str:
    """A hash to compare with if there is no user; computed on first use, as it takes 0.25 seconds."""
    return _hasher.hash("a password of no user")


def hash_password(password: str) -> str:
    return _hasher.hash(password)


def verify_password(password: str, password_hash: str | None) -> bool:
    """Whether the password matches; without a hash (an unknown email) it takes as long and returns False."""
    matches = _hasher.verify(password, password_hash or _placeholder_hash())
    return matches and password_hash is not None


async def is_easy_to_guess_aside(password: str, about: Collection[str | None]) -> bool:
    """`is_easy_to_guess` without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_threads, is_easy_to_guess, password, about)


async def hash_password_aside(password: str) -> str:
    """`hash_password` without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_threads, hash_password, password)


async def verify_password_aside(password: str, password_hash: str | None) -> bool:
    """`verify_password` without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, verify_password, password, password_hash
    )
