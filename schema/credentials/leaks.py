"""Reports of leaked credentials, in the format of GitHub's secret scanning partner program."""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from schema.kit.base import Input, Output

MOST_LEAKS = 10_000


class LeakLabel(StrEnum):
    """Whether the reported text is a credential of this service."""

    TRUE_POSITIVE = "true_positive"
    FALSE_POSITIVE = "false_positive"


class Leak(Input):
    """One reported text. Further fields are ignored."""

    model_config = ConfigDict(extra="ignore")

    token: Annotated[
        str, Field(min_length=1, max_length=1_000, repr=False, description="The text that was found.")
    ]
    type: Annotated[
        str,
        Field(
            max_length=1_000,
            description="The reporter's name for the kind of credential; returned in the verdict.",
        ),
    ]
    url: Annotated[str | None, Field(max_length=10_000, description="The place where it was found.")] = None


class LeakVerdict(Output):
    """The verdict on one reported text."""

    token_raw: Annotated[str, Field(repr=False, description="The reported `token`.")]
    token_type: Annotated[str, Field(description="The reported `type`.")]
    label: LeakLabel
