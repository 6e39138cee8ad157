"""The Dockerfile: what a linter says, and that the image has what running needs and nothing else."""

import re
import runpy
import subprocess
import sysconfig
import tomllib
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docs" / "deploy" / "Dockerfile"
TEXT = FILE.read_text()


def test_the_linter_finds_nothing() -> None:
    hadolint = Path(sysconfig.get_path("scripts")) / "hadolint"
    done = subprocess.run([hadolint, FILE], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_image_is_made_of_the_packages_and_what_they_need() -> None:
    copied = {name for line in re.findall(r"^COPY (?!--from)(.+)$", TEXT, re.M) for name in line.split()[:-1]}
    included = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]["find"]
    packages = {name.rstrip("*") for name in included["include"] if "." not in name}
    files = {"running.lock", "pyproject.toml", "README.md", "LICENSE", "docs/deploy/compile_used.py"}
    assert copied == packages | files
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert allowed == {name.partition("/")[0] for name in copied}


def test_the_image_runs_as_a_user_without_rights_and_checks_itself() -> None:
    last = TEXT.rpartition("\nFROM ")[2]
    user = re.search(r"^USER (\d+):(\d+)$", last, re.M)
    assert user
    assert "0" not in user.groups()
    assert re.search(r"^VOLUME /data$", last, re.M)
    assert "DUOGRAPH_ENV=production" in last
    assert "curl" not in TEXT
    (check,) = re.findall(r'CMD \["python", "-S", "-c", "(.+)"\]', last)
    compile(check, "the health check", "exec")


def test_what_is_compiled_although_it_is_imported_late_exists() -> None:
    late = runpy.run_path(str(ROOT / "docs" / "deploy" / "compile_used.py"))["LATE"]
    assert [name for name in late if find_spec(name) is None] == []
