"""`make release`: what it publishes, what it changes in the tree, and when it refuses."""

import json
import re
import tarfile
from hashlib import sha256
from pathlib import Path

import pytest

from tests.project.conftest import DAY, VERSION, Released, begin_repository, git
from tests.project.release import RECIPE, Refused, release


@pytest.mark.long
def test_a_release_publishes_wheel_source_image_bill_of_materials_and_notes(released: Released) -> None:
    assert {file.name for file in released.files} == {
        f"duograph-{VERSION}-py3-none-any.whl",
        f"duograph-{VERSION}.tar.gz",
        f"duograph-{VERSION}-image.tar.gz",
        f"duograph-{VERSION}.cdx.json",
        f"duograph-{VERSION}.md",
        "SHA256SUMS",
    }


def test_the_checksums_are_those_of_the_files(released: Released) -> None:
    lines = [line.split("  ") for line in released.file("SHA256SUMS").read_text().splitlines()]
    sums = {name: checksum for checksum, name in lines}
    others = [file for file in released.files if file.name != "SHA256SUMS"]
    assert sums == {file.name: sha256(file.read_bytes()).hexdigest() for file in others}


def test_the_bill_of_materials_lists_what_running_installs_with_licenses_and_dependencies(
    released: Released,
) -> None:
    bom = json.loads(released.file(".cdx.json").read_text())
    lock = (released.tree / "running.lock").read_text()
    pins = {word.partition("==")[::2] for word in lock.split() if "==" in word}
    parts = {(re.sub(r"[-_.]+", "-", part["name"]).lower(), part["version"]) for part in bom["components"]}
    assert parts == pins
    described = bom["metadata"]["component"]
    assert (described["name"], described["version"]) == ("duograph", VERSION)
    assert all(part["licenses"] for part in bom["components"] if part["name"] == "asyncpg")
    known = {part["bom-ref"] for part in bom["components"]} | {described["bom-ref"]}
    assert {ref for entry in bom["dependencies"] for ref in (entry["ref"], *entry["dependsOn"])} <= known


def test_the_context_of_the_image_has_what_its_recipe_copies(released: Released) -> None:
    with tarfile.open(released.file("-image.tar.gz")) as archive:
        names = set(archive.getnames())
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (released.tree / RECIPE).read_text(), re.MULTILINE)
    for name in " ".join(copied).split():
        assert name in names or any(file.startswith(f"{name}/") for file in names), name
    assert RECIPE in names


def test_the_release_is_a_commit_with_a_tag_whose_files_name_the_version(released: Released) -> None:
    tree = released.tree
    assert git(tree, "status", "--porcelain") == ""
    assert git(tree, "describe", "--exact-match").strip() == f"v{VERSION}"
    assert f'version = "{VERSION}"' in (tree / "pyproject.toml").read_text()
    assert json.loads((tree / "rest_compat/openapi.json").read_text())["info"]["version"] == VERSION
    chart = (tree / "docs/deploy/chart/Chart.yaml").read_text()
    assert f'version: {VERSION}\nappVersion: "{VERSION}"' in chart
    changelog = (tree / "CHANGELOG.md").read_text()
    notes = released.file(f"{VERSION}.md").read_text()
    assert f"## Unreleased\n\n## {VERSION} · {DAY}\n\n{notes}" in changelog


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A repository with a tag, and with something that users notice since."""
    changelog = "# Changelog\n\n## Unreleased\n\n- It flies.\n\n## 1.2.0\n\n- It runs.\n"
    (tmp_path / "CHANGELOG.md").write_text(changelog)
    begin_repository(tmp_path)
    git(tmp_path, "tag", "v1.2.0")
    return tmp_path


@pytest.mark.parametrize("version", ["1.2.0", "1.1.9", "1.3", "v1.3.0", "next"])
def test_a_version_that_does_not_follow_the_last_one_is_refused(tree: Path, version: str) -> None:
    with pytest.raises(Refused, match=r"like 0\.2\.0|choose a higher version"):
        release(tree, version, DAY)


def test_a_tree_with_changes_that_are_not_committed_is_refused(tree: Path) -> None:
    (tree / "new.py").touch()
    with pytest.raises(Refused, match=r"Commit or remove these files first:\n\?\? new\.py"):
        release(tree, "1.3.0", DAY)


def test_a_release_in_which_users_notice_nothing_is_refused(tree: Path) -> None:
    (tree / "CHANGELOG.md").write_text("# Changelog\n\n## Unreleased\n\n## 1.2.0\n\n- It runs.\n")
    git(tree, "commit", "--all", "--message", "Take it back")
    with pytest.raises(Refused, match="has nothing below"):
        release(tree, "1.3.0", DAY)


def test_a_release_that_cannot_be_built_leaves_the_tree_as_it_was(tree: Path) -> None:
    before = git(tree, "rev-parse", "HEAD")
    with pytest.raises((Refused, OSError)):
        release(tree, "1.3.0", DAY)
    assert (git(tree, "rev-parse", "HEAD"), git(tree, "status", "--porcelain")) == (before, "")
