"""The gateway's memory during an upload of 5 GiB to the local store: `python -m bench.uploads [GIB]`."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx

MIB = 1024 * 1024
PART = 64 * MIB
AT_A_TIME = 4
BLOCK = os.urandom(MIB)
COMMAND = [sys.executable, "-m", "gateway.cli.main"]


def memory(pid: int, field: str) -> float:
    """A process's memory in MiB: `VmRSS` is the current value, `VmHWM` the peak."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (line,) = [line for line in lines if line.startswith(field)]
    return int(line.split()[1]) / 1024


async def content(size: int) -> AsyncIterator[bytes]:
    for _ in range(size // MIB):
        yield BLOCK


async def upload(client: httpx.AsyncClient, size: int) -> tuple[float, float]:
    """Upload a file of `size` bytes, four parts at a time; returns the seconds of receiving and joining."""
    parts = [
        {"number": number, "chunk_start": start, "chunk_end": min(start + PART, size)}
        for number, start in enumerate(range(0, size, PART), 1)
    ]
    new = {"service": "downloadable", "name": "big.bin", "mime_type": "application/octet-stream"}
    file = (await client.post("/files/", json={**new, "size": size, "upload": {"parts": parts}})).json()
    limit = asyncio.Semaphore(AT_A_TIME)

    async def put(part: dict[str, Any]) -> dict[str, Any]:
        length = part["chunk_end"] - part["chunk_start"]
        async with limit:
            answer = await client.put(
                part["url"], content=content(length), headers={"Content-Length": str(length)}
            )
        answer.raise_for_status()
        return {"number": part["number"], "checksum_etag": answer.headers["etag"]}

    started = time.monotonic()
    uploaded = await asyncio.gather(*(put(part) for part in file["upload"]["parts"]))
    received = time.monotonic()
    body = {"id": file["upload"]["id"], "path": file["path"], "parts": uploaded}
    (await client.post(f"/files/{file['id']}/uploaded", json=body)).raise_for_status()
    joined = time.monotonic()
    download = (await client.get(f"/files/{file['id']}/download")).json()
    downloaded = 0
    async with client.stream("GET", download["url"]) as answer:
        async for chunk in answer.aiter_raw():
            downloaded += len(chunk)
    if downloaded != size:
        raise SystemExit(f"{downloaded} of {size} bytes were downloaded.")
    return received - started, joined - received


def main(gibibytes: int) -> None:
    root = Path(__file__).parent.parent
    with tempfile.TemporaryDirectory() as directory:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("DUOGRAPH_")}
        environ |= {"PYTHONPATH": str(root), "DUOGRAPH_RATE_LIMIT": "0"}
        serve = [*COMMAND, "serve", "--demo", "--port", "0", "--json"]
        with subprocess.Popen(serve, cwd=directory, env=environ, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            gateway = json.loads(server.stdout.readline())
            before = memory(server.pid, "VmRSS")
            token = {"Authorization": f"Bearer {gateway['demo']['workspace_token']}"}

            async def measure() -> tuple[float, float]:
                async with httpx.AsyncClient(
                    base_url=gateway["base_url"], headers=token, timeout=600
                ) as client:
                    return await upload(client, gibibytes * 1024 * MIB)

            received, joined = asyncio.run(measure())
            print(f"{gibibytes} GiB received in {received:.1f} s, joined in {joined:.1f} s")
            print(f"resident: {before:.1f} MiB before, {memory(server.pid, 'VmRSS'):.1f} MiB after,")
            print(f"{memory(server.pid, 'VmHWM'):.1f} MiB at peak")
            server.terminate()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
