"""Reports of leaked credentials, in the words of GitHub's secret scanning partner program."""

from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from schema.base import Input, Output

MOST_LEAKS = 10_000


class LeakLabel(StrEnum):
    """Whether what was found is a credential of ours."""

    TRUE_POSITIVE = "true_positive"
    FALSE_POSITIVE = "false_positive"


class Leak(Input):
    """One find; what else its reporter says of it is not looked at."""

    model_config = ConfigDict(extra="ignore")

    token: Annotated[str, Field(min_length=1, max_length=1_000, repr=False, description="What was found.")]
    type: Annotated[str, Field(max_length=1_000, description="The reporter's name of its kind; given back.")]
    url: Annotated[str | None, Field(max_length=10_000, description="Where it was found.")] = None


class LeakVerdict(Output):
    """What a find turned out to be."""

    token_raw: Annotated[str, Field(repr=False, description="The token of the find.")]
    token_type: Annotated[str, Field(description="The type of the find.")]
    label: LeakLabel
