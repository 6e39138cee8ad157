"""Disk work for the local store: off the event loop, durable, and limited to its directory."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO, ParamSpec, TypeVar

from storage.objects.interface import StoreUnavailable
from storage.objects.paths import check_path

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


async def on_disk(
    work: Callable[Arguments, Result], /, *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    """Run `work` in a thread; an OSError becomes `StoreUnavailable`, without paths of the server."""
    try:
        return await asyncio.to_thread(work, *arguments, **named)
    except OSError as error:
        raise StoreUnavailable(
            f"the object store failed: {error.strerror or 'input or output error'}"
        ) from error


async def open_on_disk(path: Path, buffer_bytes: int) -> BinaryIO:
    """Open a file for reading; if the caller is cancelled meanwhile, close it again."""
    opening = asyncio.ensure_future(on_disk(path.open, "rb", buffer_bytes))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_opened)
        raise


def _close_opened(opening: asyncio.Future[BinaryIO]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def resolve_below(directory: Path, path: str) -> Path:
    """The file of an object's path, always below `directory`. Raises `PathRefused`."""
    return directory.joinpath(*check_path(path))


def make_directories(directory: Path) -> None:
    """Create the directory and its parents so that they survive a power failure."""
    missing = [parent for parent in (directory, *directory.parents) if not parent.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    for created in missing:
        sync_directory(created.parent)


def move_into_place(source: Path, target: Path) -> None:
    """Rename a synced file so that the rename survives a power failure."""
    source.replace(target)
    sync_directory(target.parent)


def write_all(file: BinaryIO, content: bytes | bytearray) -> None:
    """Write everything to an unbuffered file: its `write` may write only a part."""
    with memoryview(content) as view:
        written = 0
        while written < len(view):
            written += file.write(view[written:])


def sync_directory(directory: Path) -> None:
    """Write the directory's entries to the disk."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
