"""Connections that are cut while their requests wait: what the log then has."""

import logging
import socket
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import uvloop
from structlog.testing import capture_logs

from tests.support.measures.patience import PATIENCE_SECONDS, eventually
from tests.support.measures.request_log import request_log
from tests.support.servers.live import serve

SHARE = b'{"name": "A report", "prices": [{"amount_type": "free"}]}'
# Closing then sends RST, and the gateway cannot write any more.
ABORTING = struct.pack("ii", 1, 0)


def post(token: str) -> bytes:
    head = f"POST /api/shares/ HTTP/1.1\r\nHost: gateway\r\nAuthorization: Bearer {token}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(SHARE)}\r\n\r\n".encode() + SHARE


def test_pipelined_requests_that_are_cut_at_any_byte_leave_a_line_each_at_most_and_no_stack(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "duograph.sqlite"
    url = f"sqlite+aiosqlite:///{file}"
    with serve(url, tmp_path, loop_factory=uvloop.new_event_loop, access_log=True) as (address, tenant):
        host, port = urlsplit(address).netloc.split(":")

        def connect() -> socket.socket:
            return socket.create_connection((host, int(port)), timeout=PATIENCE_SECONDS)

        one, cuts = post(tenant.token), range(1, 2 * len(post(tenant.token)) + 1)
        logging.getLogger("uvicorn.error").addHandler(caplog.handler)
        with (
            request_log() as lines,
            capture_logs() as own,
            closing(sqlite3.connect(file, isolation_level=None)) as other,
        ):
            other.execute("BEGIN IMMEDIATE")
            for cut in cuts:
                connection = connect()
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORTING)
                connection.sendall((one * 2)[:cut])
                # The gateway reads in the order of arrival: it begins what was sent, and then sees the end.
                for ends in (False, True):
                    if ends:
                        connection.close()
                    with connect() as asking:
                        asking.sendall(b"GET /health HTTP/1.1\r\nHost: gateway\r\n\r\n")
                        assert asking.recv(65_536).startswith(b"HTTP/1.1 200 ")
            other.execute("ROLLBACK")
            begun = sum(cut >= len(one) - len(SHARE) for cut in cuts)

            def posts() -> int:
                return sum(line["method"] == "POST" for line in lines())

            eventually(lambda: posts() >= begun)
            assert posts() == begun
        logging.getLogger("uvicorn.error").removeHandler(caplog.handler)
    assert [line for line in own if "exc_info" in line or line["log_level"] == "error"] == []
    assert [record.getMessage() for record in caplog.records] == []
