"""The audits of GraphQL over HTTP by npm's graphql-http, its reference implementation."""

import json

from tests.support.clients.npm import run_node
from tests.support.servers.live import serve

# Of the locked version; earlier ones had 60.
AUDITS = 61


def test_every_audit_of_graphql_over_http_passes(tmp_path):
    with serve(f"sqlite:///{tmp_path}/audited.db", tmp_path) as (address, _):
        results = json.loads(run_node("audit_graphql_http.mjs", f"{address}/graphql"))
    assert [result for result in results if result["status"] != "ok"] == []
    assert len(results) == AUDITS
