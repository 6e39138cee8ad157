"""Settings that two people change at the same time: each keeps what the other did not change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gateway.web.kit.forms import Form
from gateway.web.records.kit.merging import merge, of_field, opened_with
from gateway.web.records.kit.values import Texts
from schema.errors import Problem, problem

_LONGEST_VALUE = 200


@dataclass(frozen=True)
class _Setting:
    name: str


@dataclass(frozen=True)
class Settings:
    """What a form of settings is after a merge.

    `form` has what both saved; where both changed one setting, the value that was sent, with a problem beside
    it. `changed` names the settings that are to be saved.
    """

    form: Form
    changed: frozenset[str]


def opened(saved: Form) -> Form:
    """The form of saved settings, which remembers what it was opened with."""
    values = _texts(saved)
    return Form({**values, **opened_with(values)})


def merged(sent: Form, saved: Form, names: Sequence[str]) -> Settings:
    """The sent settings of these names with what somebody else has saved meanwhile."""
    settings, theirs = [_Setting(name) for name in names], _texts(saved)
    found = merge(sent, settings, _texts(sent), theirs)
    changed = {each.name for each in settings if of_field(found.texts, each) != of_field(theirs, each)}
    disputed = [each.name for each in found.disputed]
    form = Form({**found.texts, **opened_with(theirs)}, list(_problems(disputed, theirs)))
    return Settings(form, frozenset(changed))


def _texts(form: Form) -> Texts:
    return {name: list(values) for name, values in form.values.items()}


def _problems(disputed: Sequence[str], theirs: Texts) -> Iterator[Problem]:
    for name in disputed:
        value = ", ".join(theirs.get(name, ()))
        value = value if len(value) <= _LONGEST_VALUE else f"{value[:_LONGEST_VALUE]}..."
        now = {"on": "It is now checked", "": "It is now empty"}.get(value, f"It is now {value}")
        message = f"Someone else has changed this in the meantime. {now}: save again to use yours instead"
        yield problem(("data", *name.split(".")), message, "conflict")
