"""The caches of urql and Apollo Client: they read pages twice without a warning."""

import httpx
import pytest

from tests.support.clients.npm import run_node
from tests.support.measures.patience import TAKES_MINUTES
from tests.support.servers.live import serve

pytestmark = [TAKES_MINUTES, pytest.mark.long]

# Two pages of shares, two of a customer's events and one of the rest, each read from the gateway once.
REQUESTS = 5


def test_caches_read_pages_twice_without_a_warning(tmp_path):
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    with serve(url, tmp_path / "objects") as (address, tenant):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        with httpx.Client(base_url=f"{address}/api", headers=headers) as client:
            for name in ("Ash", "Birch", "Cedar"):
                free = {"name": name, "prices": [{"amount_type": "free"}], "metadata": {"key": 1}}
                share = client.post("/shares/", json=free).json()
            customer = client.post("/customers/", json={"email": "ada@example.com"}).json()
            events = [{"name": name, "customer_id": customer["id"]} for name in ("visited", "read")]
            assert client.post("/events/ingest", json={"events": events}).status_code == 201
            about = {"share_id": share["id"], "customer_id": customer["id"]}
            session = {**about, "created_at": "2026-01-02T00:00:00Z", "file_size_bytes": 1}
            assert client.post("/file-share-sessions/", json=session).status_code == 201
        told = run_node("caches.mjs", address, tenant.token, customer["id"])
    assert dict(line.split() for line in told.splitlines()) == {
        "urql": str(REQUESTS),
        "apollo": str(REQUESTS),
    }
