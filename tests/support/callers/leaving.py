"""A caller whose connection ends before its request has arrived."""

from typing import Any


async def give_up(app: Any, token: str, *headers: tuple[bytes, bytes]) -> list[Any]:
    """Announce a share and go away; what the gateway sent then. HTTPX has no way to do so."""
    sent: list[Any] = []

    async def receive() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        sent.append(message)

    authorization = (b"authorization", f"Bearer {token}".encode())
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": "/api/shares/",
        "raw_path": b"/api/shares/",
        "root_path": "",
        "query_string": b"",
        "headers": [(b"host", b"gateway"), (b"content-type", b"application/json"), authorization, *headers],
        "client": ("127.0.0.1", 1),
        "server": ("gateway", 80),
    }
    await app(scope, receive, send)
    return sent
