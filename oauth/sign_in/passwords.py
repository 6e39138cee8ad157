"""Passwords: argon2, by pwdlib."""

import asyncio
import time
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import BoundedSemaphore

from pwdlib import PasswordHash

from oauth.sign_in.password_strength import is_easy_to_guess

_hasher = PasswordHash.recommended()
# Argon2 takes 64 MiB and up to a second, so it runs in a few threads beside the event loop.
_threads = ThreadPoolExecutor(max_workers=2, thread_name_prefix="passwords")
# Strangers choose as many new passwords as they like, so these are judged and hashed apart, one at a time.
_thread_of_new = ThreadPoolExecutor(max_workers=1, thread_name_prefix="new-passwords")
MOST_NEW = 20
_room_for_new = BoundedSemaphore(MOST_NEW)
# A hash takes all processors, so however many wait, half of the time is left to those that sign in.
LONGEST_REST_SECONDS = 0.5


class TooManyNewPasswords(Exception):
    """As many new passwords as are accepted wait to be judged and hashed."""


class _Pace:
    """Rests between two works for as long as the last one took: on one thread only."""

    def __init__(self) -> None:
        self._rests_until = 0.0

    @contextmanager
    def kept(self) -> Iterator[None]:
        time.sleep(max(0.0, self._rests_until - time.monotonic()))
        began = time.monotonic()
        try:
            yield
        finally:
            ended = time.monotonic()
            self._rests_until = ended + min(ended - began, LONGEST_REST_SECONDS)


_pace_of_new = _Pace()


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


async def hash_new_password_aside(password: str, about: Collection[str | None]) -> str | None:
    """The hash, without blocking the event loop; None for a password that is easy to guess.

    Raises `TooManyNewPasswords` while `MOST_NEW` wait for theirs.
    """
    if not _room_for_new.acquire(blocking=False):
        raise TooManyNewPasswords
    work = _thread_of_new.submit(_hash_unless_easy, password, tuple(about))
    work.add_done_callback(lambda _: _room_for_new.release())
    return await asyncio.wrap_future(work)


async def verify_password_aside(password: str, password_hash: str | None) -> bool:
    """`verify_password` without blocking the event loop."""
    return await asyncio.get_running_loop().run_in_executor(
        _threads, verify_password, password, password_hash
    )


def _hash_unless_easy(password: str, about: Collection[str | None]) -> str | None:
    with _pace_of_new.kept():
        return None if is_easy_to_guess(password, about) else hash_password(password)
