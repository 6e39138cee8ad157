"""Generated files from the command line."""

import json
from pathlib import Path

import pytest

from gateway.cli.output import CommandError
from gateway.cli.snapshots import export


def test_an_export_says_whether_the_file_changed_and_a_check_only_compares(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "schema.graphql"
    with pytest.raises(CommandError, match="does not match the code: run `duograph schema export`"):
        export(path, "type Query", check=True, command="duograph schema export", as_json=True)
    assert not path.exists()
    for changed in (True, False):
        export(path, "type Query", check=False, command="duograph schema export", as_json=True)
        assert json.loads(capsys.readouterr().out) == {"path": str(path), "changed": changed}
    export(path, "type Query", check=True, command="duograph schema export", as_json=True)
    assert path.read_text() == "type Query"
