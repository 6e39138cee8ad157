"""The Helm chart renders to valid objects of Kubernetes, and its pods may do nothing that they need not."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from gotpl.errors import TemplateExecutionError
from gotpl.exts.helm import HelmTemplateEngine
from kubernetes_validate import ValidationError, validate

from gateway.settings.settings import Settings

CHART = Path(__file__).parents[2] / "docs" / "deploy" / "chart"
# The oldest version that the chart allows, and the newest whose schemas are installed.
VERSIONS = ("1.27", "1.37")
REQUIRED = {
    "host": "api.example.com",
    "secret": "duograph",
    "settings": {"DUOGRAPH_OBJECT_STORE": "s3://duograph", "DUOGRAPH_TRUSTED_PROXIES": "10.0.0.0/8"},
}
SECRETS = {
    "DUOGRAPH_SECRET_KEY": "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA",
    "DUOGRAPH_DATABASE_URL": "postgresql://duograph@database/duograph",
}


def merged(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """Values over values, as Helm merges them."""
    result = dict(base)
    for name, value in over.items():
        both = isinstance(value, dict) and isinstance(result.get(name), dict)
        result[name] = merged(result[name], value) if both else value
    return result


def rendered(**values: Any) -> list[dict[str, Any]]:
    """The chart's objects, by gotpl's implementation of Go's templates and of Helm's functions."""
    about = yaml.safe_load((CHART / "Chart.yaml").read_text())
    context = {
        "Values": merged(yaml.safe_load((CHART / "values.yaml").read_text()), values),
        "Release": {"Name": "shop", "Namespace": "default", "Service": "Helm"},
        "Chart": {"Name": about["name"], "Version": about["version"], "AppVersion": about["appVersion"]},
    }
    sources = {file.name: file.read_text() for file in sorted((CHART / "templates").iterdir())}
    pages = HelmTemplateEngine(sources).render({name: context for name in sources if name.endswith(".yaml")})
    return [each for page in pages.values() for each in yaml.safe_load_all(page) if each]


def pods_of(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in objects if each["kind"] in ("Deployment", "Job")]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    "values",
    [
        {},
        {"autoscaling": {"enabled": False}, "ingress": {"enabled": False}},
        {
            "pullSecrets": [{"name": "registry"}],
            "podAnnotations": {"a": "b"},
            "nodeSelector": {"disk": "fast"},
            "tolerations": [{"key": "spot", "operator": "Exists"}],
            "serviceAccount": {"annotations": {"role": "store"}},
            "ingress": {"className": "nginx", "annotations": {"size": "64m"}},
        },
    ],
    ids=["as it is", "least", "most"],
)
def test_every_object_is_valid(version: str, values: dict[str, Any]) -> None:
    objects = rendered(**merged(REQUIRED, values))
    for each in objects:
        validate(each, version, strict=True)
    kinds = {each["kind"] for each in objects}
    assert kinds >= {"Deployment", "Job", "PodDisruptionBudget", "Service", "ServiceAccount"}
    assert ("HorizontalPodAutoscaler" in kinds) == values.get("autoscaling", {}).get("enabled", True)
    assert ("Ingress" in kinds) == values.get("ingress", {}).get("enabled", True)


def test_a_misspelled_field_would_be_noticed() -> None:
    (service,) = [each for each in rendered(**REQUIRED) if each["kind"] == "Service"]
    with pytest.raises(ValidationError):
        validate(service | {"spec": service["spec"] | {"prots": []}}, VERSIONS[-1], strict=True)


@pytest.mark.parametrize("name", ["host", "secret", "DUOGRAPH_OBJECT_STORE"])
def test_a_missing_value_is_named(name: str) -> None:
    empty = {name: ""} if name in REQUIRED else {"settings": {name: ""}}
    with pytest.raises(TemplateExecutionError, match=name):
        rendered(**merged(REQUIRED, empty))


def test_pods_run_as_nobody_and_write_to_two_folders_only() -> None:
    pods = pods_of(rendered(**REQUIRED))
    assert len(pods) == 2
    for pod in pods:
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["automountServiceAccountToken"] is False
        # Variables like DUOGRAPH_PORT, which Kubernetes sets for services, would stop the start.
        assert pod["enableServiceLinks"] is False
        (container,) = pod["containers"]
        allowed = container["securityContext"]
        assert allowed["readOnlyRootFilesystem"]
        assert not allowed["allowPrivilegeEscalation"]
        assert allowed["capabilities"] == {"drop": ["ALL"]}
        assert {mount["mountPath"] for mount in container["volumeMounts"]} == {"/data", "/tmp"}
        assert container["resources"]["limits"]["memory"]


def test_a_pod_ends_after_its_requests_and_is_replaced_before_that() -> None:
    objects = rendered(**REQUIRED)
    (deployment,) = [each for each in objects if each["kind"] == "Deployment"]
    pod = deployment["spec"]["template"]["spec"]
    (gateway,) = pod["containers"]
    assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    # 30 seconds for requests, after 5 in which the service's clients hear of it.
    assert gateway["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]
    assert pod["terminationGracePeriodSeconds"] > 35
    paths = [gateway[probe]["httpGet"]["path"] for probe in ("livenessProbe", "readinessProbe")]
    assert paths == ["/health", "/ready"]


def settings_of(pod: dict[str, Any]) -> Settings:
    (container,) = pod["containers"]
    environ = {each["name"]: each["value"] for each in container["env"]}
    return Settings.from_environ({"DUOGRAPH_ENV": "production", **SECRETS, **environ})


def test_every_variable_is_a_setting_with_a_usable_value() -> None:
    for pod in pods_of(rendered(**REQUIRED)):
        assert settings_of(pod).base_url == "https://api.example.com/api"


def test_large_numbers_in_values_reach_the_gateway_as_they_are() -> None:
    numbers = {"DUOGRAPH_STORAGE_QUOTA": 107374182400.0, "DUOGRAPH_RATE_LIMIT": 2000000.0}
    values = merged(REQUIRED, {"settings": {**numbers, "DUOGRAPH_ACCESS_LOG": False}})
    for settings in map(settings_of, pods_of(rendered(**values))):
        assert (settings.storage_quota, settings.rate_limit) == (107374182400, 2000000)
        assert not settings.access_log


def test_the_migration_comes_before_the_pods_of_a_version() -> None:
    (job,) = [each for each in rendered(**REQUIRED) if each["kind"] == "Job"]
    assert job["metadata"]["annotations"]["helm.sh/hook"] == "pre-install,pre-upgrade"
    assert job["spec"]["template"]["spec"]["containers"][0]["args"] == ["migrate"]
