"""`python -m tests.project.release 0.2.0`: commits and tags a release, and builds what is published.

Files in `dist/`: the wheel, the source distribution, the context of the image for `docker build`, an SBOM in
CycloneDX's format, the release's part of the changelog, and SHA256SUMS of these.
"""

import gzip
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from datetime import date
from hashlib import sha256
from pathlib import Path

from packaging.version import InvalidVersion, Version

from gateway.cli.generated.docs import changelog_page

ROOT = Path(__file__).parents[2]
HEADING = "## Unreleased\n"
# Where the version stands; the gateway itself reads the one of its installation.
PLACES = {
    "pyproject.toml": (r'(?m)^version = "(.+)"$',),
    "rest_compat/openapi.json": (r'(?m)^    "version": "(.+)",$',),
    "docs/deploy/chart/Chart.yaml": (r"(?m)^version: (.+)$", r'(?m)^appVersion: "(.+)"$'),
}
RECIPE = "docs/deploy/Dockerfile"


class Refused(Exception):
    """The release cannot be made; its text says why and what to do."""


def main(arguments: list[str]) -> int:
    try:
        (text,) = arguments
        files = release(ROOT, text, date.today())
    except ValueError:
        sys.stderr.write('Name the version: make release VERSION="0.2.0"\n')
        return 2
    except Refused as refused:
        sys.stderr.write(f"{refused}\n")
        return 1
    listed = "\n".join(f"  dist/{file.name}  {file.stat().st_size:,} bytes" for file in files)
    sys.stdout.write(f"Committed and tagged v{text}:\n{listed}\nPublish by: git push --follow-tags\n")
    return 0


def release(tree: Path, text: str, day: date) -> list[Path]:
    """Commit and tag the version in a clean `tree`; what was written into its `dist/`.

    Raises Refused, with the tree as it was, where the version does not follow the last one, a file is not
    committed, or the changelog has nothing new.
    """
    version = _next_version(tree, text)
    changes = _unreleased(tree)
    try:
        _write_version(tree, str(version))
        _close_changelog(tree, str(version), day)
        files = build(tree, str(version), changes)
    except BaseException:
        _run(tree, "git", "checkout", "--quiet", ".")
        raise
    _run(tree, "git", "commit", "--quiet", "--all", "--message", f"Release {version}")
    _run(tree, "git", "tag", "--annotate", f"v{version}", "--message", f"Duograph {version}\n\n{changes}")
    return files


def build(tree: Path, version: str, changes: str) -> list[Path]:
    """Everything that is published of the tree as it is, the same bytes for the same commit and tools."""
    folder = tree / "dist"
    folder.mkdir(exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    # The moment of the last commit is in archives instead of today.
    moment = _run(tree, "git", "log", "-1", "--format=%ct").strip()
    build_tool = (sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder))
    _run(tree, *build_tool, SOURCE_DATE_EPOCH=moment)
    _write_image_context(tree, folder / f"duograph-{version}-image.tar.gz", int(moment))
    (folder / f"duograph-{version}.cdx.json").write_text(bill_of_materials(tree))
    (folder / f"duograph-{version}.md").write_text(changes)
    files = sorted(folder.iterdir())
    sums = folder / "SHA256SUMS"
    sums.write_text("".join(f"{sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files))
    return [*files, sums]


def bill_of_materials(tree: Path) -> str:
    """What a running gateway consists of, as CycloneDX: the packages of running.lock, of this environment."""
    lock = (tree / "running.lock").read_text()
    running = {_canonical(word.partition("==")[0]) for word in lock.split() if "==" in word}
    tool = (sys.executable, "-m", "cyclonedx_py", "environment", "--output-reproducible", "--no-validate")
    bom = json.loads(_run(tree, *tool, "--pyproject", "pyproject.toml", sys.executable))
    bom["components"] = [part for part in bom["components"] if _canonical(part["name"]) in running]
    kept = {part["bom-ref"] for part in bom["components"]} | {bom["metadata"]["component"]["bom-ref"]}
    bom["dependencies"] = [
        entry | {"dependsOn": [ref for ref in entry.get("dependsOn", []) if ref in kept]}
        for entry in bom["dependencies"]
        if entry["ref"] in kept
    ]
    return json.dumps(bom, indent=2, sort_keys=True) + "\n"


def _next_version(tree: Path, text: str) -> Version:
    try:
        version = Version(text)
    except InvalidVersion:
        raise Refused(f"{text} is no version: write it like 0.2.0.") from None
    tags = _run(tree, "git", "tag", "--list", "v*").split()
    last = max((Version(tag[1:]) for tag in tags), default=None)
    if str(version) != text or len(version.release) != 3 or (last is not None and version <= last):
        raise Refused(f"{text} does not follow {last}: choose a higher version, in its shortest form.")
    if changed := _run(tree, "git", "status", "--porcelain").strip():
        raise Refused(f"Commit or remove these files first:\n{changed}")
    return version


def _unreleased(tree: Path) -> str:
    changelog = (tree / "CHANGELOG.md").read_text()
    changes = changelog.partition(HEADING)[2].partition("\n## ")[0].strip()
    if not changes:
        raise Refused('CHANGELOG.md has nothing below "Unreleased": say what users notice.')
    return f"{changes}\n"


def _write_version(tree: Path, version: str) -> None:
    for name, patterns in PLACES.items():
        text = (tree / name).read_text()
        for pattern in patterns:
            text = re.sub(pattern, lambda line: line[0].replace(line[1], version), text, count=1)
        (tree / name).write_text(text)


def _close_changelog(tree: Path, version: str, day: date) -> None:
    file = tree / "CHANGELOG.md"
    heading = f"{HEADING}\n## {version} · {day.isoformat()}\n"
    file.write_text(file.read_text().replace(HEADING, heading, 1))
    page = tree / "docs" / "changelog.md"
    if page.exists():
        page.write_text(changelog_page(file.read_text()))


def _write_image_context(tree: Path, file: Path, moment: int) -> None:
    """What `docker build -f docs/deploy/Dockerfile -` reads: the files that its recipe copies."""
    recipe = (tree / RECIPE).read_text()
    copied = re.findall(r"^COPY (?!--from)(.+)$", recipe, re.MULTILINE)
    names = {name for line in copied for name in line.split()[:-1]} | {RECIPE}
    listed = _run(tree, "git", "ls-files", "--", *sorted(names)).splitlines()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in listed:
            entry = archive.gettarinfo(tree / name, name)
            entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname = moment, 0, 0, "", ""
            with (tree / name).open("rb") as content:
                archive.addfile(entry, content)
    file.write_bytes(gzip.compress(packed.getvalue(), mtime=moment))


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _run(tree: Path, *command: str, **environment: str) -> str:
    done = subprocess.run(
        command, cwd=tree, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise Refused(f"{' '.join(command[:4])} failed:\n{done.stderr or done.stdout}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
