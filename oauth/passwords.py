"""Passwords: argon2, by pwdlib."""

import asyncio
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from functools import cache

from pwdlib import PasswordHash

from oauth.password_strength import is_easy_to_guess

_hasher = PasswordHash.recommended()
# Argon2 takes 64 MiB and a good part of a second: beside the event loop, and never for many at once.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="passwords")


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


async def is_easy_to_guess_aside(password: str, about: Collection[str | None]) -> bool:
    """`is_easy_to_guess` without holding up the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_threads, is_easy_to_guess, password, about)


async def hash_password_aside(password: str) -> str:
    """`hash_password` without holding up the event loop."""
    return await asyncio.get_running_loop().run_in_executor(_threads, hash_password, password)


async def verify_password_aside(password: str, password_hash: str | None) -> bool:
    """`verify_password` without holding up the event loop."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, verify_password, password, password_hash
    )
