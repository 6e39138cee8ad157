"""Generated files from the command line."""

import json
import shutil
from pathlib import Path

import pytest

from gateway.cli.generated import docs
from gateway.cli.generated.docs_pages import pages
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


def test_every_generated_page_is_there_as_the_code_makes_it() -> None:
    there = {name: (docs.FOLDER / name).read_text().partition(f"\n{docs.BY_HAND}")[0] for name in pages()}
    assert [name for name, page in pages().items() if page != there[name]] == []


def test_pages_that_do_not_match_the_code_are_found_and_written_again_but_for_what_is_by_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # The command writes into its own checkout only: here, into a copy.
    for name in (*pages(), "changelog.md"):
        shutil.copy(docs.FOLDER / name, tmp_path / name)
    monkeypatch.setattr(docs, "FOLDER", tmp_path)
    docs.export(check=False, as_json=True)
    capsys.readouterr()
    docs.export(check=True, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"changed": []}
    monitoring, scopes, changelog = (
        tmp_path / f"{name}.md" for name in ("monitoring", "scopes", "changelog")
    )
    generated, mark, by_hand = monitoring.read_text().partition(docs.BY_HAND)
    assert mark
    monitoring.write_text(f"Stale.{mark}{by_hand}Added by hand.")
    scopes.unlink()
    changelog.write_text("Stale.")
    with pytest.raises(CommandError, match=r"^docs/scopes.md does not match the code: run `duograph docs"):
        docs.export(check=True, as_json=True)
    assert not scopes.exists()
    assert monitoring.read_text().startswith("Stale.")
    docs.export(check=False, as_json=False)
    assert capsys.readouterr().out == "Wrote scopes.md, monitoring.md, changelog.md.\n"
    assert monitoring.read_text() == f"{generated}{mark}{by_hand}Added by hand."
    assert scopes.read_text() == pages()["scopes.md"]
    assert changelog.read_text() == docs.changelog_page(docs.CHANGELOG.read_text())


def test_an_installed_gateway_leaves_its_page_of_changes_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # It has no CHANGELOG.md beside its packages, and its pages are in one of them.
    monkeypatch.setattr(docs, "FOLDER", tmp_path)
    monkeypatch.setattr(docs, "CHANGELOG", tmp_path / "CHANGELOG.md")
    docs.export(check=False, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"changed": list(pages())}
    assert {file.name for file in tmp_path.iterdir()} == set(pages())


def test_links_of_the_changelog_lead_to_the_same_from_its_page() -> None:
    page = docs.changelog_page(
        "# Changes\n\n[a](docs/tokens.md#b) [c](README.md) [d](https://e.example) [f](#g)"
    )
    assert page.endswith("\n[a](tokens.md#b) [c](../README.md) [d](https://e.example) [f](#g)")
