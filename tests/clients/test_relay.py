"""Relay's compiler on the schema: it pages by connections and reads a resource again by `node`."""

import json
import shutil
from pathlib import Path

from resolvers.graph.root import make_schema
from tests.support.clients.npm import CLIENTS, run_node
from tests.support.measures.patience import TAKES_MINUTES

pytestmark = TAKES_MINUTES


def compile_by_relay(folder: Path) -> dict[str, str]:
    """The operations that Relay sends for relay_shares.js, by their names."""
    paths = {"src": "src", "schema": "schema.graphql", "artifactDirectory": "made"}
    (folder / "src").mkdir()
    (folder / "made").mkdir()
    shutil.copy(CLIENTS / "relay_shares.js", folder / "src" / "Shares.js")
    (folder / "schema.graphql").write_text(make_schema().as_str())
    settings = {name: str(folder / path) for name, path in paths.items()} | {"language": "javascript"}
    (folder / "relay.config.json").write_text(json.dumps(settings))
    run_node("node_modules/relay-compiler/cli.js", str(folder / "relay.config.json"))
    return {path.name.removesuffix(".graphql.js"): path.read_text() for path in (folder / "made").iterdir()}


def test_relay_pages_by_connections_and_reads_a_resource_again_by_node(tmp_path):
    made = compile_by_relay(tmp_path)
    assert {"SharesQuery", "SharesPageQuery", "EventsPageQuery", "ShareAgainQuery"} <= made.keys()
    for name in ("SharesPageQuery", "EventsPageQuery"):
        for selected in ("cursor", "endCursor", "hasNextPage", "first: $count", "after: $cursor"):
            assert selected in made[name]
    assert "node(id: $id)" in made["ShareAgainQuery"]
