"""`make deploy-check` finds each protection of docs/deploy/ in its place, and says where one is missing."""

import shutil
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from storage.objects.s3 import PROBE
from tests.deploy.checks import CHECKS, METRICS_PORT, Deployment
from tests.deploy.rendering import FOLDER, releases
from tests.support.servers.rate_limiting import redis_server

ROOT = FOLDER.parents[1]
DOCKER = """#!/bin/sh
echo "$@" >> "$LOG"
for image; do :; done
case $image in
redis:*) echo "$REDIS" ;;
*) echo sha256:$(printf %s "$image" | sha256sum | cut -c1-64) ;;
esac
"""


@pytest.mark.parametrize("each", CHECKS, ids=[each.name for each in CHECKS])
def test_each_protection_is_there(each):
    assert list(each.faults(Deployment())) == []


def _contexts(files: Deployment) -> list[dict]:
    return [container["securityContext"] for _, container, _ in files.containers()]


def _policy_rules(files: Deployment) -> list[dict]:
    return [rule for each in files.of_kind("NetworkPolicy") for rule in each["spec"].get("ingress") or []]


def _metrics_from_everywhere(files: Deployment) -> None:
    (rule,) = [rule for rule in _policy_rules(files) if rule["ports"][0]["port"] == METRICS_PORT]
    rule["from"].append({"namespaceSelector": {}})


def _every_port_is_open(files: Deployment) -> None:
    _policy_rules(files)[0].pop("ports")


def _no_policy(files: Deployment) -> None:
    files.objects = [each for each in files.objects if each["kind"] != "NetworkPolicy"]


def _store_in_public(files: Deployment) -> None:
    files.proxy = files.proxy.replace("handle /duograph/* {", "handle {")


BROKEN: list[tuple[str, Callable[[Deployment], object]]] = [
    ("readOnlyRootFilesystem", lambda files: _contexts(files)[0].pop("readOnlyRootFilesystem")),
    ("chart: no container has capabilities", lambda files: _contexts(files)[1].update(capabilities={})),
    ("chart: no process gets more", lambda files: _contexts(files)[0].pop("allowPrivilegeEscalation")),
    ("seccompProfile", lambda files: _contexts(files)[1].pop("seccompProfile")),
    ("chart: nothing runs as root", lambda files: _contexts(files)[0].update(runAsNonRoot=False)),
    ("chart: images", lambda files: next(files.containers())[1].update(image="duograph:latest")),
    (
        "chart: pods have no credential",
        lambda files: files.of_kind("Job")[0]["spec"]["template"]["spec"].pop("automountServiceAccountToken"),
    ),
    ("chart: a NetworkPolicy", _no_policy),
    ("chart: the metrics port", _metrics_from_everywhere),
    ("chart: the metrics port", _every_port_is_open),
    (
        "chart: the metrics port",
        lambda files: files.of_kind("Service")[0]["spec"]["ports"][0].update(targetPort=9100),
    ),
    (
        "compose: images",
        lambda files: setattr(files, "compose", files.compose.replace("${REDIS_IMAGE:?", "redis:${REDIS:?")),
    ),
    ("compose: no part writes", lambda files: files.services["redis"].pop("read_only")),
    (
        "compose: no process",
        lambda files: files.services["store"]["security_opt"].append("seccomp:unconfined"),
    ),
    ("compose: capabilities", lambda files: files.services["database"].pop("cap_drop")),
    ("compose: capabilities", lambda files: files.services["proxy"]["cap_add"].append("SYS_ADMIN")),
    ("compose: only the proxy", lambda files: files.services["redis"].update(ports=["6379:6379"])),
    ("compose: Redis asks", lambda files: files.services["redis"]["command"].pop(1)),
    (
        "compose: the gateway is no root",
        lambda files: files.services["store"]["environment"].update(MINIO_ROOT_USER="duograph"),
    ),
    (
        "compose: the gateway is no root",
        lambda files: files.services["proxy"].update(secrets=["store_root_password"]),
    ),
    (
        "compose: the gateway's user of the store",
        lambda files: files.policy["Statement"][0]["Resource"].append("arn:aws:s3:::*"),
    ),
    (
        "compose: the gateway's user of the store",
        lambda files: files.policy["Statement"][1]["Action"].append("s3:*"),
    ),
    ("compose: the proxy publishes", _store_in_public),
    ("image:", lambda files: setattr(files, "recipe", files.recipe.replace("USER 10001", "USER 0"))),
    ("systemd:", lambda files: files.units.update({"duograph.service": "[Service]"})),
]


@pytest.mark.parametrize(
    ("name", "break_it"), BROKEN, ids=[f"{n}-{name}" for n, (name, _) in enumerate(BROKEN)]
)
def test_a_protection_that_is_taken_away_is_missed(name, break_it):
    files = Deployment()
    break_it(files)
    missing = {each.name for each in CHECKS if list(each.faults(files))}
    assert any(name in each for each in missing)


def test_each_check_was_seen_to_fail():
    assert [each.name for each in CHECKS if not any(name in each.name for name, _ in BROKEN)] == []


def test_the_command_prints_a_line_for_each():
    done = subprocess.run(
        ["make", "--no-print-directory", "deploy-check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("ok  ")]
    assert (done.returncode, len(lines)) == (0, len(CHECKS)), done.stdout + done.stderr


def test_the_policy_of_the_store_is_what_the_gateway_needs():
    actions = {action for statement in Deployment().policy["Statement"] for action in statement["Action"]}
    page = (ROOT / "docs" / "uploads.md").read_text()
    needed = page.partition("The gateway needs ")[2].partition(".")[0]
    assert {f"`{action}`" for action in actions} == set(
        needed.replace(" and", ",").replace("\n", " ").split(", ")
    )
    # `duograph doctor` tries out an object that is not below the services' paths.
    assert "/" not in PROBE


def pinned(folder: Path, redis: str) -> subprocess.CompletedProcess[str]:
    """Run the script with a `docker` that answers with this digest of Redis."""
    for name in ("pin_images.sh", "images"):
        shutil.copy(FOLDER / name, folder)
    (folder / "docker").write_text(DOCKER)
    (folder / "docker").chmod(0o700)
    environ = {"PATH": f"{folder}:/usr/bin:/bin", "LOG": str(folder / "log"), "REDIS": redis}
    return subprocess.run(
        [folder / "pin_images.sh"], env=environ, capture_output=True, text=True, check=False
    )


def test_images_are_pinned_to_the_digests_of_the_registry(tmp_path):
    assert pinned(tmp_path, f"sha256:{'0' * 64}").returncode == 0
    comments, lines = (
        [
            line
            for line in (tmp_path / "images.env").read_text().splitlines()
            if line.startswith("#") == is_comment
        ]
        for is_comment in (True, False)
    )
    assert comments == [f"# {release}" for release in releases().values()]
    assert [line.partition("=")[0] for line in lines] == list(releases())
    assert f"REDIS_IMAGE=redis@sha256:{'0' * 64}" in lines
    asked = (tmp_path / "log").read_text().splitlines()
    assert (
        asked[0]
        == f"buildx imagetools inspect --format {{{{.Manifest.Digest}}}} {releases()['PYTHON_IMAGE']}"
    )


@pytest.mark.parametrize("answer", ["", "latest", "sha256:abc", f"sha256:{'0' * 64} and more"])
def test_what_is_no_digest_pins_nothing(tmp_path, answer):
    done = pinned(tmp_path, answer)
    assert done.returncode != 0
    assert "names no digest of redis:7.4.11" in done.stderr
    assert not (tmp_path / "images.env").exists()


def test_redis_answers_nobody_without_the_password_that_is_made(tmp_path):
    script = shutil.copy(FOLDER / "make_secrets.sh", tmp_path)
    subprocess.run([script, "smtp://mail.example.com"], check=True, timeout=60)
    password = (tmp_path / "secrets" / "redis_password").read_text()
    assert (tmp_path / "secrets" / "redis_url").read_text() == f"redis://:{password}@redis"
    with redis_server(tmp_path / "socket", tmp_path / "secrets" / "redis_configuration"):
        assert answers(tmp_path / "socket", "PING") == [b"-NOAUTH Authentication required.\r\n"]
        assert answers(tmp_path / "socket", f"AUTH {password}", "PING") == [b"+OK\r\n", b"+PONG\r\n"]


def answers(path: Path, *commands: str) -> list[bytes]:
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        with client.makefile("rwb", 0) as line:
            return [line.write(f"{command}\r\n".encode()) and line.readline() for command in commands]
