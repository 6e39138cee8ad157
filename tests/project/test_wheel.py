"""An installation from a wheel works by itself: without the tree, and without writing to its own files."""

import os
import re
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

import httpx
import pytest

from gateway.web.guide.contents import FILES, PAGES
from resolvers.graph.contract import SCHEMA_PATH
from tests.project.conftest import Released
from tests.support.commands.command import Command
from tests.support.commands.serving import serving
from tests.support.measures.patience import TAKES_MINUTES

pytestmark = TAKES_MINUTES

ROOT = Path(__file__).parents[2]
LINKED_FILE = re.compile(r"""(?:src|href)=["'](/static/[^"']+)""")
# Gives up what lets root write into anything: it then is a user like others. 24 is PR_CAPBSET_DROP.
POWERLESS = """
import ctypes, os, sys
if os.geteuid() == 0:
    for capability in range(64):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.fixture(scope="module")
def wheel(released: Released) -> Path:
    """The wheel of a release of this tree."""
    return released.file(".whl")


@pytest.fixture(scope="module")
def names(wheel: Path) -> set[str]:
    with ZipFile(wheel) as archive:
        return set(archive.namelist())


@pytest.mark.long
def test_a_wheel_has_the_guides_and_the_files_beside_them(names: set[str]) -> None:
    assert {f"docs/{file}" for file in [*FILES, *(page.file for page in PAGES.values())]} <= names


@pytest.mark.parametrize(
    "folder",
    ["gateway/web/static", "gateway/web/templates", "gateway/web/examples", "schema/languages/catalogues"],
)
def test_a_wheel_has_what_pages_are_made_of(names: set[str], folder: str) -> None:
    files = (ROOT / folder).rglob("*")
    assert {str(file.relative_to(ROOT)) for file in files if file.is_file()} <= names


@dataclass(frozen=True)
class Installation:
    """An environment of its own with the wheel, which nothing can write to, and the libraries of this one."""

    folder: Path

    @property
    def files(self) -> set[Path]:
        return set(self.folder.rglob("*"))

    def command(self, directory: Path) -> Command:
        program = str(self.folder / "bin" / "duograph")
        return Command(directory, program=(sys.executable, "-c", POWERLESS, program))


@pytest.fixture(scope="module")
def installation(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("installed") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True, timeout=300)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    subprocess.run([*install, "--quiet", str(wheel)], check=True, timeout=300)
    # A path here leads to libraries, but not to the tree: files that do so are only read in `site-packages`.
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    _change_modes(folder, lambda mode: mode & ~0o222)
    yield Installation(folder)
    _change_modes(folder, lambda mode: mode | 0o200)


def _change_modes(folder: Path, change: Callable[[int], int]) -> None:
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(change(path.stat().st_mode))


@pytest.fixture
def installed(installation: Installation, tmp_path: Path) -> Iterator[Command]:
    before = installation.files
    yield installation.command(tmp_path)
    assert installation.files == before


def test_an_installation_uses_its_own_files_and_can_write_none_of_them(installation: Installation) -> None:
    where = "import gateway, pathlib; print(gateway.__file__); pathlib.Path(gateway.__file__).open('a')"
    python = str(installation.folder / "bin" / "python")
    ended = subprocess.run(
        [sys.executable, "-c", POWERLESS, python, "-c", where],
        cwd=installation.folder.parent,
        env=os.environ | {"PYTHONPATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert Path(ended.stdout.strip()).is_relative_to(installation.folder)
    assert "PermissionError" in ended.stderr


def test_an_installation_serves_every_kind_of_page(installed: Command) -> None:
    with serving(installed, "--demo") as said:
        options = {"headers": {"Accept": "text/html"}, "follow_redirects": True, "timeout": 180}
        with httpx.Client(base_url=said["url"], **options) as client:
            home = client.get(said["demo"]["link"])
            assert "demo@example.com" in home.text
            paths = ["/docs", "/docs/guide", "/graphql", "/demo/dashboard", "/demo/shares", "/account"]
            paths += ["/docs/guide/concepts", "/workspaces/demo/members"]
            pages = [home, *(client.get(path) for path in paths)]
            assert [page.status_code for page in pages] == [200] * len(pages)
            linked = {link for page in pages for link in LINKED_FILE.findall(page.text)}
            assert {"/static/style.css", "/static/favicon.svg"} <= {link.partition("?")[0] for link in linked}
            served = [client.get(link).status_code for link in sorted(linked)]
            assert served == [200] * len(served)
            assert "パスワード" in client.get("/sign-in?again=1", headers={"Accept-Language": "ja"}).text
            for contract in ("/openapi.json", SCHEMA_PATH, "/llms.txt"):
                assert client.get(contract).status_code == 200, contract


def test_an_installation_is_checked_by_the_doctor(installed: Command) -> None:
    installed.json("migrate")
    assert {check["status"] for check in installed.json("doctor")["checks"]} <= {"ok", "warn"}
