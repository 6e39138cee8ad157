"""Generated files from the command line."""

import json
from pathlib import Path

import pytest

from gateway.cli.generated.snapshots import export
from gateway.cli.kit.output import CommandError
from resolvers.graph.contract import SCHEMA_FILE
from tests.support.commands.command import Command


def test_an_export_says_whether_the_file_changed_and_a_check_only_compares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "schema.graphql"
    with pytest.raises(CommandError, match="does not match the code: run `duograph schema export`"):
        export(path, "type Query", check=True, output=None, command="duograph schema export", as_json=True)
    assert not path.exists()
    for changed in (True, False):
        export(path, "type Query", check=False, output=None, command="duograph schema export", as_json=True)
        assert json.loads(capsys.readouterr().out) == {"path": str(path), "changed": changed}
    export(path, "type Query", check=True, output=None, command="duograph schema export", as_json=True)
    assert path.read_text() == "type Query"


def test_an_export_goes_to_another_file_or_to_standard_output(empty: Command) -> None:
    printed = empty.run("schema", "export", "--output", "-").stdout
    assert printed == SCHEMA_FILE.read_text()
    said = empty.json("schema", "export", "--output", "mine.graphql")
    assert said == {"path": "mine.graphql", "changed": True}
    assert (empty.directory / "mine.graphql").read_text() == printed
    refused = empty.refusal("schema", "export", "--output", "missing/mine.graphql")
    assert refused.startswith("missing/mine.graphql cannot be written (No such file or directory)")
