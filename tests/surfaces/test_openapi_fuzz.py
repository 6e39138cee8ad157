"""The OpenAPI document against the running gateway: generated calls, good and bad, keep its promises."""

import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from rest_compat.openapi.document import openapi_document
from tests.support.measures.cases import ASKED, cases
from tests.support.servers.live import serve

# What is long enough to break a limit of a field may also be too long for a body.
REFUSALS = [400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429]
CONFIGURATION = SchemathesisConfig.from_dict(
    {"checks": {"negative_data_rejection": {"expected-statuses": REFUSALS}}}
)
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
]


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    folder = tmp_path_factory.mktemp("live")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder / "objects") as running:
        yield running
    if ASKED:
        # An operation with few possible calls has fewer than its part.
        print(f"{SENT.total()} requests", file=sys.__stderr__, flush=True)


def calls() -> Iterator[Any]:
    """Each operation with good input, unless its answer never ends, and with bad input if it has any."""
    document = schemathesis.openapi.from_dict(openapi_document(), config=CONFIGURATION)
    for operation in (found.ok() for found in document.get_all_operations()):
        answered = operation.definition.raw["responses"].get("200", {}).get("content", {})
        if "text/event-stream" not in answered:
            yield _case(operation, GenerationMode.POSITIVE)
        if operation.body or list(operation.iter_parameters()):
            yield _case(operation, GenerationMode.NEGATIVE)


def _case(operation: Any, mode: GenerationMode) -> Any:
    return pytest.param(operation, mode, id=f"{operation.label}-{mode.value}")


CALLS = list(calls())
SENT = Counter()


@pytest.mark.long
@pytest.mark.parametrize(("operation", "mode"), CALLS)
def test_every_operation_answers_as_documented(operation, mode, live):
    address, tenant = live
    headers = {"Authorization": f"Bearer {tenant.token}"}

    @settings(
        max_examples=cases(5, len(CALLS)),
        # So that a run can be repeated.
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def ask(case):
        SENT[mode] += 1
        case.validate_response(case.call(base_url=address, headers=headers), checks=CHECKS)

    ask()
