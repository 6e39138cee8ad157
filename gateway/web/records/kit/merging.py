"""Two edits of one record: what one of them changed is kept, and a person decides about what both changed."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from gateway.web.kit.forms import Form
from gateway.web.records.kit.values import Texts

# The field of a form with the texts that it was opened with.
OPENED = "opened"


class Named(Protocol):
    """A field of a form."""

    @property
    def name(self) -> str:
        """That of its texts, or what those of its parts begin with."""


AnyField = TypeVar("AnyField", bound=Named)


@dataclass(frozen=True)
class Merge(Generic[AnyField]):
    """The texts of both edits together; of the `disputed` fields those of the member who sent the form.

    `theirs` are the fields that only somebody else changed.
    """

    texts: Texts
    disputed: Sequence[AnyField]
    theirs: Sequence[AnyField]


def opened_with(texts: Texts) -> dict[str, list[str]]:
    """The value of `OPENED` for a form with these texts."""
    return {OPENED: [json.dumps({name: values for name, values in texts.items() if any(values)})]}


def merge(form: Form, fields: Sequence[AnyField], mine: Texts, theirs: Texts) -> Merge[AnyField]:
    """Merge what was sent with what is saved now; without what the form was opened with, all is disputed."""
    opened = _opened(form)
    texts: Texts = {}
    disputed, only_theirs = [], []
    for each in fields:
        was, sent, saved = (_filled(of_field(source, each)) for source in (opened, mine, theirs))
        is_mine = sent not in (was, saved)
        texts |= of_field(mine if is_mine else theirs, each)
        if is_mine and saved != was:
            disputed.append(each)
        elif not is_mine and saved not in (was, sent):
            only_theirs.append(each)
    return Merge(texts, disputed, only_theirs)


def of_field(texts: Texts, each: Named) -> Texts:
    """The field's texts and those of its parts."""
    return {
        name: values
        for name, values in texts.items()
        if name == each.name or name.startswith(f"{each.name}.")
    }


def _filled(texts: Texts) -> Texts:
    # Browsers end the lines of a text area with both characters.
    return {
        name: [value.replace("\r\n", "\n").strip() for value in values]
        for name, values in texts.items()
        if any(value.strip() for value in values)
    }


def _opened(form: Form) -> Texts:
    try:
        found = json.loads(form.raw(OPENED))
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: list(map(str, values)) for name, values in found.items() if isinstance(values, list)}
