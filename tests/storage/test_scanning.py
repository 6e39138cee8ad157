"""What a scanner for malware answers, and at which of its addresses."""

import asyncio
import socket
from contextlib import asynccontextmanager

import pytest

from storage.objects.scanning import MOST_OF_ANSWER, Scanner, ScannerUnavailable


@asynccontextmanager
async def answering(answer):
    """The port of a server that reads one command, answers and hangs up."""

    async def serve(reader, writer):
        await reader.readuntil(b"\0")
        writer.write(answer)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("answer", [b"", b"PON", b"x" * (MOST_OF_ANSWER + 1) + b"\0", b"PANG\0"])
async def test_a_scanner_without_a_whole_answer_is_unavailable(answer):
    async with answering(answer) as port:
        with pytest.raises(ScannerUnavailable):
            await Scanner(f"tcp://127.0.0.1:{port}").check()


@pytest.mark.parametrize("is_first", [True, False])
async def test_a_scanner_is_found_at_any_address_of_its_name(is_first, monkeypatch):
    loop = asyncio.get_running_loop()
    look_up = loop.getaddrinfo
    with socket.socket() as silent:
        # It takes no connections.
        silent.bind(("127.0.0.1", 0))
        async with answering(b"PONG\0") as port:
            ports = [port, silent.getsockname()[1]] if is_first else [silent.getsockname()[1], port]

            async def addresses(host, *arguments, **named):
                """No name has two addresses on every machine that runs tests."""
                if host != "scanner.test":
                    return await look_up(host, *arguments, **named)
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", each)) for each in ports]

            monkeypatch.setattr(loop, "getaddrinfo", addresses)
            await Scanner("tcp://scanner.test:3310").check()
            ports.remove(port)
            with pytest.raises(ScannerUnavailable):
                await Scanner("tcp://scanner.test:3310").check()
