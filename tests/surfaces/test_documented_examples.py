"""The examples of the OpenAPI document run as printed on the demo workspace, and answers are as declared."""

from pathlib import Path

import pytest

from rest_compat.api import documented_routes
from rest_compat.routing.paths import PREFIX
from tests.support.callers.answers import faults_of_answers
from tests.support.callers.reference import NEEDS_MORE, PATHS, reading


async def test_the_first_try_of_every_operation_succeeds(tmp_path: Path) -> None:
    async with reading(tmp_path) as reader:
        failures = await reader.try_all()
    assert not failures, "\n".join(failures)


def test_examples_of_answers_are_what_is_declared() -> None:
    """`make generated` takes those at fault from what the gateway answers."""
    assert faults_of_answers() == {}


def test_what_needs_more_is_still_an_operation() -> None:
    assert set(NEEDS_MORE) <= {route.operation.name for route in documented_routes()}


@pytest.mark.parametrize("resource", ["shares", "customers", "events"])
def test_a_filter_by_metadata_is_empty_unless_a_reader_fills_it_in(resource: str) -> None:
    parameters = PATHS[f"{PREFIX}/{resource}/"]["get"]["parameters"]
    assert [each["example"] for each in parameters if each["name"] == "metadata"] == [{}]
