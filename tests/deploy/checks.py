"""What the files of docs/deploy/ do not allow, each with a check that names where it is missing."""

import json
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import yaml

from tests.deploy.rendering import FOLDER, REQUIRED, compose_text, merged, rendered

METRICS_PORT = 9100
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
_RUN_BY_DEPLOYMENTS = ("Deployment", "Job")


def _text(name: str) -> str:
    return (FOLDER / name).read_text()


@cache
def _measured() -> list[dict[str, Any]]:
    return rendered(**merged(REQUIRED, {"settings": {"DUOGRAPH_METRICS_PORT": METRICS_PORT}}))


@dataclass
class Deployment:
    """The files, read. `objects` are the chart's, with the metrics port that a cluster's Prometheus reads."""

    objects: list[dict[str, Any]] = field(default_factory=lambda: deepcopy(_measured()))
    project: dict[str, Any] = field(default_factory=lambda: yaml.safe_load(compose_text()))
    compose: str = field(default_factory=lambda: _text("compose.yaml"))
    policy: dict[str, Any] = field(default_factory=lambda: json.loads(_text("store-policy.json")))
    proxy: str = field(default_factory=lambda: _text("Caddyfile"))
    recipe: str = field(default_factory=lambda: _text("Dockerfile"))
    units: dict[str, str] = field(
        default_factory=lambda: {
            name: _text(f"systemd/{name}") for name in ("duograph.service", "duograph-backup.service")
        }
    )

    def of_kind(self, *kinds: str) -> list[dict[str, Any]]:
        return [each for each in self.objects if each["kind"] in kinds]

    @property
    def services(self) -> dict[str, Any]:
        services: dict[str, Any] = self.project["services"]
        return services

    def containers(self) -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
        """Each container of the chart with its name, its own security context and that of its pod."""
        for each in self.of_kind(*_RUN_BY_DEPLOYMENTS):
            pod = each["spec"]["template"]["spec"]
            for container in pod["containers"]:
                yield container["name"], container, pod.get("securityContext", {})


class Check(NamedTuple):
    """A protection, and the function that yields each place where it is missing."""

    name: str
    faults: Callable[[Deployment], Iterator[str]]


CHECKS: list[Check] = []


def check(
    name: str,
) -> Callable[[Callable[[Deployment], Iterator[str]]], Callable[[Deployment], Iterator[str]]]:
    def add(faults: Callable[[Deployment], Iterator[str]]) -> Callable[[Deployment], Iterator[str]]:
        CHECKS.append(Check(name, faults))
        return faults

    return add


def _of_contexts(field: str, expected: Any) -> Callable[[Deployment], Iterator[str]]:
    """Containers whose own security context has another value in this field."""

    def faults(files: Deployment) -> Iterator[str]:
        for name, container, _ in files.containers():
            if container.get("securityContext", {}).get(field) != expected:
                yield name

    return faults


check("chart: no container writes to its image (readOnlyRootFilesystem)")(
    _of_contexts("readOnlyRootFilesystem", True)
)
check("chart: no container has capabilities")(_of_contexts("capabilities", {"drop": ["ALL"]}))
check("chart: no process gets more rights than it began with (no-new-privileges)")(
    _of_contexts("allowPrivilegeEscalation", False)
)
check("chart: system calls are those of the runtime's profile (seccompProfile)")(
    _of_contexts("seccompProfile", {"type": "RuntimeDefault"})
)
check("chart: nothing runs as root")(_of_contexts("runAsNonRoot", True))


@check("chart: images are named by digest")
def _chart_images(files: Deployment) -> Iterator[str]:
    yield from (name for name, container, _ in files.containers() if not _DIGEST.search(container["image"]))


@check("chart: pods have no credential of the cluster")
def _cluster_credentials(files: Deployment) -> Iterator[str]:
    for each in files.of_kind(*_RUN_BY_DEPLOYMENTS):
        if each["spec"]["template"]["spec"].get("automountServiceAccountToken") is not False:
            yield each["metadata"]["name"]


@check("chart: a NetworkPolicy refuses every connection that no rule allows")
def _network_policy(files: Deployment) -> Iterator[str]:
    policies = [each["spec"] for each in files.of_kind("NetworkPolicy")]
    for each in files.of_kind(*_RUN_BY_DEPLOYMENTS):
        labels = each["spec"]["template"]["metadata"]["labels"].items()
        if not [
            policy
            for policy in policies
            if "Ingress" in policy["policyTypes"] and policy["podSelector"]["matchLabels"].items() <= labels
        ]:
            yield each["metadata"]["name"]


@check("chart: the metrics port is reached from the namespace only, by no Service and no Ingress")
def _metrics_port(files: Deployment) -> Iterator[str]:
    rules = [rule for each in files.of_kind("NetworkPolicy") for rule in each["spec"].get("ingress") or []]
    opening = [rule for rule in rules if _opens(rule, METRICS_PORT)]
    if not opening:
        yield "no rule"
    for rule in opening:
        peers = rule.get("from") or [{}]
        yield from (f"from {peer}" for peer in peers if set(peer) != {"podSelector"})
    for service in files.of_kind("Service"):
        for port in service["spec"]["ports"]:
            if port["targetPort"] != "http":
                yield f"service port {port['port']}"


def _opens(rule: dict[str, Any], number: int) -> bool:
    ports = rule.get("ports")
    return not ports or number in [port.get("port") for port in ports]


@check("compose: images are named by variables with digests, which have no default")
def _compose_images(files: Deployment) -> Iterator[str]:
    for image in re.findall(r"^\s+image: (.+)$", files.compose, re.MULTILINE):
        if image != "duograph" and not re.match(r"\$\{[A-Z]+_IMAGE:\?", image):
            yield str(image)
    if not re.search(r"PYTHON: \$\{PYTHON_IMAGE:\?", files.compose):
        yield "the image that ours is built on"
    pinned = FOLDER / "images.env"
    for line in pinned.read_text().splitlines() if pinned.exists() else ():
        if not line.startswith("#") and not _DIGEST.search(line):
            yield f"images.env: {line}"


def _of_services(field: str, expected: Any) -> Callable[[Deployment], Iterator[str]]:
    def faults(files: Deployment) -> Iterator[str]:
        yield from (name for name, service in files.services.items() if service.get(field) != expected)

    return faults


check("compose: no part writes to its image (read_only)")(_of_services("read_only", True))
check("compose: no process gets more rights than it began with, nor another seccomp profile than Docker's")(
    _of_services("security_opt", ["no-new-privileges:true"])
)


@check("compose: capabilities are dropped, but for the proxy's to open the ports 80 and 443")
def _compose_capabilities(files: Deployment) -> Iterator[str]:
    for name, service in files.services.items():
        allowed = ["NET_BIND_SERVICE"] if name == "proxy" else []
        if service.get("cap_drop") != ["ALL"] or service.get("cap_add", []) != allowed:
            yield name


@check("compose: only the proxy publishes ports, and nobody the metrics")
def _published(files: Deployment) -> Iterator[str]:
    yield from (name for name, service in files.services.items() if "ports" in service and name != "proxy")
    yield from (word for word in ("DUOGRAPH_METRICS_ADDRESS",) if word in files.compose)


@check("compose: Redis asks for a password")
def _redis_password(files: Deployment) -> Iterator[str]:
    redis, gateway = files.services["redis"], files.services["gateway"]
    if (
        "/run/secrets/redis_configuration" not in redis["command"]
        or "redis_configuration" not in redis["secrets"]
    ):
        yield "redis has no requirepass"
    if gateway["environment"].get("DUOGRAPH_REDIS_URL_FILE") != "/run/secrets/redis_url":
        yield "the gateway does not have it"


@check("compose: the gateway is no root user of the object store")
def _store_user(files: Deployment) -> Iterator[str]:
    root = files.services["store"]["environment"]
    secret = root["MINIO_ROOT_PASSWORD_FILE"].rpartition("/")[2]
    for name, service in files.services.items():
        if secret in service.get("secrets", []) and name not in ("store", "bucket"):
            yield f"{name} knows the root user's password"
    for name in ("gateway", "migrate"):
        environment = files.services[name]["environment"]
        if environment["DUOGRAPH_S3_ACCESS_KEY_ID"] == root["MINIO_ROOT_USER"]:
            yield f"{name} is the root user"
        if environment["DUOGRAPH_S3_SECRET_ACCESS_KEY_FILE"].endswith(f"/{secret}"):
            yield f"{name} has the root user's password"


@check("compose: the gateway's user of the store may use one bucket, as the gateway needs it")
def _store_policy(files: Deployment) -> Iterator[str]:
    bucket = files.services["gateway"]["environment"]["DUOGRAPH_OBJECT_STORE"].removeprefix("s3://")
    for statement in files.policy["Statement"]:
        for resource in statement["Resource"]:
            if resource not in (f"arn:aws:s3:::{bucket}", f"arn:aws:s3:::{bucket}/*"):
                yield str(resource)
        yield from (action for action in statement["Action"] if "*" in action)


@check("compose: the proxy publishes the bucket's objects and nothing else of the store")
def _published_store(files: Deployment) -> Iterator[str]:
    (site,) = re.findall(r"^\{\$FILES_HOST\} \{\n(.*?)^\}", files.proxy, re.DOTALL | re.MULTILINE)
    blocks = re.findall(r"^\thandle( \S+)? \{\n(.*?)^\t\}", site, re.DOTALL | re.MULTILINE)
    bucket = files.services["gateway"]["environment"]["DUOGRAPH_OBJECT_STORE"].removeprefix("s3://")
    proxied = [path.strip() for path, body in blocks if "reverse_proxy" in body]
    if proxied != [f"/{bucket}/*"] or site.count("reverse_proxy") != 1:
        yield ", ".join(proxied) or "everything"
    if ("", "\t\trespond 404\n") not in blocks:
        yield "no 404 for the rest"


@check("image: the gateway runs as a user without rights")
def _image_user(files: Deployment) -> Iterator[str]:
    if not re.search(r"^USER [1-9]\d*:[1-9]\d*$", files.recipe.rpartition("\nFROM ")[2], re.MULTILINE):
        yield "USER"


@check("systemd: services have no capabilities, a read-only system, filtered system calls (NoNewPrivileges)")
def _units(files: Deployment) -> Iterator[str]:
    for name, text in files.units.items():
        for line in (
            "CapabilityBoundingSet=",
            "NoNewPrivileges=yes",
            "ProtectSystem=strict",
            "DynamicUser=yes",
            "SystemCallFilter=@system-service",
        ):
            if line not in text.splitlines():
                yield f"{name}: {line}"
