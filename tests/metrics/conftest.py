"""What tests of metrics share: a clock that stands still where it is asked which periods are over."""

import pytest

from resolvers.metrics import answers
from storage.clock import now


@pytest.fixture(autouse=True)
def no_period_ends_during_a_test(monkeypatch):
    moment = now()
    monkeypatch.setattr(answers, "now", lambda: moment)
