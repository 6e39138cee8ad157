"""Uploads that a scanner looks at: a server that speaks clamd's protocol and knows the test file of EICAR."""

import asyncio
import socket
from contextlib import asynccontextmanager
from threading import Thread

import pytest
import pytest_asyncio

from storage.objects.scanning import Scanner, ScannerUnavailable, TooLargeToScan
from tests.support.callers.refusals import refusal, refused
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.measures.log_lines import own_log_lines
from tests.support.servers.gateways import make_tenant, run_gateway
from tests.support.tenants.uploads import completion, new_file, put_parts, upload_file

EICAR = b"X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*"
MOST = 300_000


class Clamd:
    """As the daemon: it answers each command that ends with a zero, and takes `MOST` bytes of a stream."""

    def __init__(self):
        self.scanned = []
        self.is_broken = False

    @asynccontextmanager
    async def running(self):
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        async with server:
            yield f"tcp://127.0.0.1:{server.sockets[0].getsockname()[1]}"

    async def _serve(self, reader, writer):
        command = await reader.readuntil(b"\0")
        if command == b"zPING\0":
            writer.write(b"PONG\0")
        elif self.is_broken:
            writer.write(b"INSTREAM: cannot allocate memory ERROR\0")
        else:
            writer.write(await self._answer(reader))
        await writer.drain()
        writer.close()

    async def _answer(self, reader):
        content = b""
        while size := int.from_bytes(await reader.readexactly(4)):
            content += await reader.readexactly(size)
            if len(content) > MOST:
                return b"INSTREAM size limit exceeded. ERROR\0"
        self.scanned.append(content)
        return b"stream: Eicar-Test-Signature FOUND\0" if EICAR in content else b"stream: OK\0"


@pytest_asyncio.fixture(scope="module")
async def clamd():
    daemon = Clamd()
    async with daemon.running() as daemon.address:
        yield daemon


@pytest_asyncio.fixture(scope="module")
async def scanning(database_url, store_settings, clamd, tmp_path_factory):
    settings = {**store_settings, "clamd_url": clamd.address}
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("unused"), **settings):
        yield gateway


@pytest_asyncio.fixture(params=[GraphQL, Rest], ids=["graphql", "rest"])
async def uploader(request, scanning):
    tenant = await make_tenant(scanning)
    return request.param(scanning.client, scanning.app, tenant.token)


async def arrived(uploader, content):
    file = await uploader.create_file(data=new_file(content))
    parts = await put_parts(uploader, file["upload"], content)
    return file, completion(file, parts)


async def test_a_clean_file_is_scanned_whole_and_opens(uploader, clamd):
    content = bytes(range(256)) * 1000
    file = await upload_file(uploader, content)
    assert clamd.scanned[-1] == content
    download = await uploader.get_file_download(id=file["id"])
    assert (await uploader.client.get(download["url"])).content == content


async def test_malware_is_refused_and_never_opens(uploader):
    file, data = await arrived(uploader, b"before " + EICAR + b" after")
    with own_log_lines() as lines:
        assert await refusal(uploader.complete_file_upload(id=file["id"], data=data)) == {
            ("parts",): "malware"
        }
    assert [(line["event"], line["file"]) for line in lines] == [("malware refused", file["id"])]
    await refused(uploader.get_file_download(id=file["id"]), 422, "invalid")
    await refused(uploader.complete_file_upload(id=file["id"], data=data), 422, "invalid")
    assert (await uploader.get_file(id=file["id"]))["is_uploaded"] is False
    await uploader.delete_file(id=file["id"])


async def test_a_file_that_is_too_large_to_scan_is_refused(uploader):
    file, data = await arrived(uploader, b"x" * (MOST + 300_000))
    refusing = uploader.complete_file_upload(id=file["id"], data=data)
    assert await refusal(refusing) == {("parts",): "unscannable"}


async def test_while_the_scanner_fails_nothing_opens_and_the_completion_can_be_repeated(uploader, clamd):
    file, data = await arrived(uploader, b"a file")
    clamd.is_broken = True
    await refused(uploader.complete_file_upload(id=file["id"], data=data), 503, "unavailable")
    assert (await uploader.get_file(id=file["id"]))["is_uploaded"] is False
    clamd.is_broken = False
    assert (await uploader.complete_file_upload(id=file["id"], data=data))["is_uploaded"] is True


async def chunks(*content):
    for chunk in content:
        yield chunk


async def test_a_scanner_that_is_not_there_or_hangs_up_is_unavailable(clamd):
    await Scanner(clamd.address).check()
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0) as silent:
        address = f"tcp://127.0.0.1:{silent.sockets[0].getsockname()[1]}"
        with pytest.raises(ScannerUnavailable):
            await Scanner(address).scan(chunks(b"x"))
        with pytest.raises(ScannerUnavailable):
            await Scanner(address).check()
    with pytest.raises(ScannerUnavailable):
        await Scanner("unix:///absent/clamd.ctl").scan(chunks(b"x"))
    with pytest.raises(TooLargeToScan):
        await Scanner(clamd.address).scan(chunks(*[b"x" * 100_000] * 100))


async def test_an_answer_is_read_though_the_scanner_hung_up_before_the_next_chunk_was_sent():
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up():
            connection, _ = server.accept()
            connection.recv(1)
            connection.sendall(b"INSTREAM size limit exceeded. ERROR\0")
            connection.close()

        hanging_up = Thread(target=hang_up)
        hanging_up.start()

        async def content():
            yield b"the first"
            hanging_up.join()
            yield b"the second"
            yield b"the third"

        with pytest.raises(TooLargeToScan):
            await Scanner(f"tcp://127.0.0.1:{server.getsockname()[1]}").scan(content())
