"""`python -m tests.project.audit`: known vulnerabilities of the pinned dependencies, by pip-audit.

Fails for a vulnerability. Where no index answers in time it says that it was skipped, and passes. One answer
counts for a day, until the lock file changes.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from time import time
from typing import Any

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
SECONDS = 30
DAY = 24 * 3600
SKIPPED = "The audit of dependencies was skipped: no index with advisories answers from here."


def main(lock: Path = LOCK, answered: Path = ROOT / ".venv" / ".audited") -> int:
    """The exit code; `answered` holds the lock file that was found clean, and is a day old at most."""
    content = sha256(lock.read_bytes()).hexdigest()
    if answered.exists() and answered.read_text() == content and time() - answered.stat().st_mtime < DAY:
        sys.stdout.write("No dependency has a known vulnerability: audited today.\n")
        return 0
    pinned = [line.split()[0] for line in lock.read_text().splitlines() if "==" in line]
    report = ask(pinned) if has_answers(ask(pinned[:1])) else None
    if report is None:
        sys.stdout.write(f"{SKIPPED}\n")
        return 0
    found = vulnerabilities(report)
    sys.stdout.write("".join(f"{line}\n" for line in found or ["No dependency has a known vulnerability."]))
    if not found:
        answered.write_text(content)
    return 1 if found else 0


def ask(requirements: list[str]) -> dict[str, Any] | None:
    """pip-audit's report about the pinned requirements; None where it has none in time."""
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--progress-spinner", "off"]
    command += ["--format", "json", "--timeout", "5", "--requirement", "/dev/stdin"]
    try:
        done = subprocess.run(
            command,
            input="\n".join(requirements),
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        report: dict[str, Any] = json.loads(done.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        return None
    return report


def has_answers(report: Mapping[str, Any] | None) -> bool:
    """Whether the index knows of advisories at all: a mirror of packages may not."""
    return report is not None and any("vulns" in dependency for dependency in report["dependencies"])


def vulnerabilities(report: Mapping[str, Any]) -> list[str]:
    """A line for each: what has it, its name, and the versions without it."""
    lines = []
    for dependency in report["dependencies"]:
        for vulnerability in dependency.get("vulns", ()):
            fixed = ", ".join(vulnerability["fix_versions"])
            named = f"{dependency['name']} {dependency['version']} has {vulnerability['id']}"
            lines.append(f"{named}: {f'fixed in {fixed}' if fixed else 'no fix yet'}")
    return lines


if __name__ == "__main__":
    sys.exit(main())
