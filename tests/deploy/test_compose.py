"""The compose file is valid, its parts wait for each other, and the gateway accepts the settings in it."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from compose_spec import PyOptions

from gateway.settings.settings import Settings
from tests.deploy.rendering import FOLDER, compose_text, releases

# PostgreSQL's releases have two numbers.
RELEASE = re.compile(r"^(postgres:\d+\.\d+|.+:\d+\.\d+\.\d+(-[a-z-]+)?|.+:RELEASE\.[\dT-]+Z)$")


@pytest.fixture(scope="module")
def text() -> str:
    return compose_text()


@pytest.fixture(scope="module")
def project(text: str) -> dict[str, Any]:
    result: dict[str, Any] = yaml.safe_load(text)
    return result


@pytest.fixture
def secrets(tmp_path: Path) -> Path:
    """The folder that `make_secrets.sh` makes."""
    script = shutil.copy(FOLDER / "make_secrets.sh", tmp_path)
    subprocess.run([script, "smtp://user:password@mail.example.com"], check=True, timeout=60)
    return tmp_path / "secrets"


def test_the_file_follows_the_specification(text: str) -> None:
    PyOptions(apply_merge=True).from_yaml(text).validate()


def test_each_part_waits_until_what_it_needs_is_healthy_or_done(project: dict[str, Any]) -> None:
    services = project["services"]
    for name, service in services.items():
        for needed, how in service.get("depends_on", {}).items():
            lasts = services[needed].get("restart") == "unless-stopped"
            expected = "service_healthy" if lasts else "service_completed_successfully"
            assert how == {"condition": expected}, (name, needed)
            # The image of the gateway has a health check of its own.
            assert "healthcheck" in services[needed] or needed == "gateway" or not lasts
    assert set(services["gateway"]["depends_on"]) == {"migrate", "redis", "bucket"}


def test_each_image_names_one_release() -> None:
    (base,) = re.findall(r"^ARG PYTHON=(.+)$", (FOLDER / "Dockerfile").read_text(), re.MULTILINE)
    assert releases()["PYTHON_IMAGE"] == base
    assert {image for image in releases().values() if not RELEASE.search(image)} == set()
    named = re.findall(r"\$\{(\w+_IMAGE):", (FOLDER / "compose.yaml").read_text())
    assert set(named) == set(releases())


def test_only_the_proxy_can_be_reached_from_outside(project: dict[str, Any]) -> None:
    assert [name for name, service in project["services"].items() if "ports" in service] == ["proxy"]


def test_the_gateway_can_write_to_its_volume_only(project: dict[str, Any]) -> None:
    for name in ("gateway", "migrate"):
        service = project["services"][name]
        assert (service["read_only"], service["cap_drop"]) == (True, ["ALL"])


def test_the_settings_can_be_used_with_the_secrets_that_are_made(
    project: dict[str, Any], secrets: Path
) -> None:
    assert {file.name for file in secrets.iterdir()} == project["secrets"].keys()
    assert (secrets / "store_password").read_text() != (secrets / "store_root_password").read_text()
    assert secrets.stat().st_mode & 0o077 == 0
    for name in ("gateway", "migrate"):
        service = project["services"][name]
        environ = {
            variable: value.replace("/run/secrets", str(secrets))
            for variable, value in service["environment"].items()
        }
        settings = Settings.from_environ({"DUOGRAPH_ENV": "production", **environ})
        password = (secrets / "database_password").read_text()
        assert settings.database_url == f"postgresql+asyncpg://duograph:{password}@database/duograph"
        used = {value.removeprefix("/run/secrets/") for value in service["environment"].values()}
        assert set(service["secrets"]) <= used


def test_secrets_are_made_once(secrets: Path) -> None:
    before = {file.name: file.read_text() for file in secrets.iterdir()}
    subprocess.run([secrets.parent / "make_secrets.sh"], check=True, timeout=60, env=os.environ)
    assert {file.name: file.read_text() for file in secrets.iterdir()} == before


def test_no_other_user_reads_the_secrets_even_if_the_mail_server_is_not_named(tmp_path: Path) -> None:
    script = shutil.copy(FOLDER / "make_secrets.sh", tmp_path)
    done = subprocess.run([script], capture_output=True, text=True, check=False, umask=0o022)
    assert done.returncode != 0
    assert "name the mail server" in done.stderr
    assert (tmp_path / "secrets").stat().st_mode & 0o077 == 0


def test_no_secret_is_empty_if_nothing_makes_random_ones(tmp_path: Path) -> None:
    script = shutil.copy(FOLDER / "make_secrets.sh", tmp_path)
    (tmp_path / "openssl").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "openssl").chmod(0o700)
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run([script, "smtp://mail.example.com"], env=environ, check=False)
    assert done.returncode != 0
    assert not list((tmp_path / "secrets").iterdir())
