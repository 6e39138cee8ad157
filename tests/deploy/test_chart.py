"""The Helm chart renders to valid objects of Kubernetes, and its pods may do nothing that they need not."""

from importlib import import_module
from typing import Any

import pytest
from gotpl.errors import TemplateExecutionError

from gateway.settings.settings import Settings
from tests.deploy.rendering import DIGEST, REQUIRED, merged, rendered

# The oldest version that the chart allows, and the newest whose schemas are installed.
VERSIONS = ("1.27", "1.37")
SECRETS = {
    "DUOGRAPH_SECRET_KEY": "Vb0x1mQk7cPz4LrT9yHs2WdG6nJf3EuA",
    "DUOGRAPH_DATABASE_URL": "postgresql://duograph@database/duograph",
}


def pods_of(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each["spec"]["template"]["spec"] for each in objects if each["kind"] in ("Deployment", "Job")]


@pytest.fixture(scope="session")
def kubernetes() -> Any:
    """What knows the objects of each version; importing it takes seconds, which no other run should wait."""
    return import_module("kubernetes_validate")


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
            "settings": {"DUOGRAPH_METRICS_PORT": 9100},
            "networkPolicy": {
                "from": [{"namespaceSelector": {"matchLabels": {"name": "ingress"}}}],
                "egress": [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}]}],
            },
        },
        {"networkPolicy": {"enabled": False}},
    ],
    ids=["as it is", "least", "most", "no policy"],
)
def test_every_object_is_valid(kubernetes: Any, version: str, values: dict[str, Any]) -> None:
    objects = rendered(**merged(REQUIRED, values))
    for each in objects:
        kubernetes.validate(each, version, strict=True)
    kinds = {each["kind"] for each in objects}
    assert kinds >= {"Deployment", "Job", "PodDisruptionBudget", "Service", "ServiceAccount"}
    assert ("HorizontalPodAutoscaler" in kinds) == values.get("autoscaling", {}).get("enabled", True)
    assert ("NetworkPolicy" in kinds) == values.get("networkPolicy", {}).get("enabled", True)
    assert ("Ingress" in kinds) == values.get("ingress", {}).get("enabled", True)


def test_a_misspelled_field_would_be_noticed(kubernetes: Any) -> None:
    (service,) = [each for each in rendered(**REQUIRED) if each["kind"] == "Service"]
    with pytest.raises(kubernetes.ValidationError):
        kubernetes.validate(service | {"spec": service["spec"] | {"prots": []}}, VERSIONS[-1], strict=True)


@pytest.mark.parametrize("name", ["host", "secret", "image.digest", "settings.DUOGRAPH_OBJECT_STORE"])
def test_a_missing_value_is_named(name: str) -> None:
    place, _, inner = name.partition(".")
    empty: dict[str, Any] = {place: {inner: ""}} if inner else {place: ""}
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


def test_pods_run_the_image_with_the_digest() -> None:
    images = {container["image"] for pod in pods_of(rendered(**REQUIRED)) for container in pod["containers"]}
    assert images == {f"duograph@{DIGEST}"}


def rules_of(objects: list[dict[str, Any]]) -> dict[Any, Any]:
    """Who may connect to each port of the gateway; None is everyone."""
    policies = [each["spec"] for each in objects if each["kind"] == "NetworkPolicy"]
    assert [policy["podSelector"]["matchLabels"]["app.kubernetes.io/instance"] for policy in policies] == [
        "shop"
    ] * 2
    rules = [rule for policy in policies for rule in policy["ingress"]]
    return {port["port"]: rule.get("from") for rule in rules for port in rule["ports"]}


def test_pods_accept_connections_to_the_gateway_and_from_those_who_read_metrics() -> None:
    assert rules_of(rendered(**REQUIRED)) == {"http": None}
    measured = merged(REQUIRED, {"settings": {"DUOGRAPH_METRICS_PORT": 9100}})
    assert rules_of(rendered(**measured)) == {"http": None, 9100: [{"podSelector": {}}]}
    peers = [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}]
    named = merged(measured, {"networkPolicy": {"metricsFrom": peers, "from": peers}})
    assert rules_of(rendered(**named)) == {"http": peers, 9100: peers}
    with pytest.raises(TemplateExecutionError, match="who reads metrics"):
        rendered(**merged(measured, {"networkPolicy": {"metricsFrom": []}}))


def test_pods_connect_to_what_the_values_name_and_look_names_up() -> None:
    egress = [{"to": [{"ipBlock": {"cidr": "10.1.0.0/16"}}], "ports": [{"port": 5432, "protocol": "TCP"}]}]
    objects = rendered(**merged(REQUIRED, {"networkPolicy": {"egress": egress}}))
    (policy,) = [each["spec"] for each in objects if "egress" in each.get("spec", {})]
    assert policy["policyTypes"] == ["Ingress", "Egress"]
    assert policy["egress"][1:] == egress
    assert {port["port"] for port in policy["egress"][0]["ports"]} == {53}


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
