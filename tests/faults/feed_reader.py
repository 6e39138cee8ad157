"""A reader of the feed that may be killed at any moment: it goes on from what it has read into a file.

`python -P feed_reader.py ADDRESS TOKEN FILE pages|stream`. The file has a line for each change: its position
and its id.
"""

import json
import os
import sys
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import sleep

SECONDS_BETWEEN = 0.02
PATIENCE_SECONDS = 30


class FeedReader:
    def __init__(self, address: str, token: str, file: Path) -> None:
        self._connection = HTTPConnection(address.removeprefix("http://"), timeout=PATIENCE_SECONDS)
        self._headers = {"Authorization": f"Bearer {token}"}
        # A line that was written in part is not kept.
        kept = file.read_bytes() if file.exists() else b""
        kept = kept[: kept.rfind(b"\n") + 1]
        self._file = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.ftruncate(self._file, len(kept))
        self._after = kept.splitlines()[-1].split()[0].decode() if kept else ""

    def run(self, read: str) -> None:
        """Read for good; what fails is tried again."""
        while True:
            try:
                for change in self._pages() if read == "pages" else self._stream():
                    self._keep(change)
            except (OSError, HTTPException):
                self._connection.close()
            sleep(SECONDS_BETWEEN)

    def _keep(self, change: dict[str, str]) -> None:
        os.write(self._file, f"{change['position']} {change['id']}\n".encode())
        self._after = change["position"]

    def _pages(self) -> Iterator[dict[str, str]]:
        after = f"?after={self._after}" if self._after else ""
        self._connection.request("GET", f"/api/changes/{after}", headers=self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status == 200:
            yield from json.loads(content)["data"]

    def _stream(self) -> Iterator[dict[str, str]]:
        # Without a position a stream begins with what happens from now on.
        headers = {**self._headers, "Last-Event-ID": self._after or "0" * 19}
        self._connection.request("GET", "/api/changes/stream", headers=headers)
        with self._connection.getresponse() as answer:
            for line in answer:
                if line.startswith(b'data: {"id"'):
                    yield json.loads(line.removeprefix(b"data: "))


if __name__ == "__main__":
    FeedReader(*sys.argv[1:3], Path(sys.argv[3])).run(sys.argv[4])  # type: ignore[misc]
