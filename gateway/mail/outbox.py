"""Emails as files, for a gateway without a mail server."""

import asyncio
import os
from copy import deepcopy
from email.message import EmailMessage
from pathlib import Path
from tempfile import TemporaryFile
from uuid import uuid4

from gateway.mail.transport import Down


class Outbox:
    """Writes each email to `{moment}-{id}.eml` in `directory`, readable by its owner only: it may hold codes.

    The moment is the one at which the email was queued, in UTC, so names sort by age. Texts are not encoded
    for the way, so that people can copy links.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def wait_for_turn(self) -> None:
        """Files are written without a rate limit."""

    async def send(self, message: EmailMessage) -> None:
        try:
            await asyncio.to_thread(self._write, message)
        except OSError as error:
            raise Down(error.strerror or type(error).__name__) from error

    async def check(self) -> str:
        try:
            await asyncio.to_thread(self._try)
        except OSError as error:
            raise Down(error.strerror or type(error).__name__) from error
        return f"emails are written to {self._directory}"

    async def close(self) -> None:
        """Does nothing: there is no connection."""

    def _write(self, message: EmailMessage) -> None:
        """Write a temporary file and move it into place, so that no reader sees half an email."""
        self._make_directory()
        id, _, _ = message["Message-ID"].strip("<>").partition("@")
        name = f"{message['Date'].datetime:%Y%m%dT%H%M%S.%fZ}-{id}"
        draft = self._directory / f"{name}-{uuid4().hex}.part"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(_readable(message).as_bytes())
        draft.replace(self._directory / f"{name}.eml")

    def _try(self) -> None:
        self._make_directory()
        with TemporaryFile(dir=self._directory):
            pass

    def _make_directory(self) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)


def _readable(message: EmailMessage) -> EmailMessage:
    """The same message with each text as it is, where a mail server may need quoted-printable."""
    copy = deepcopy(message)
    for part in copy.walk():
        if part.get_content_maintype() == "text":
            part.set_content(part.get_content(), subtype=part.get_content_subtype(), cte="8bit")
    return copy
