"""What an address of the dashboard asks about which workspace, and what its form offers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gateway.web.dashboard.metrics.question import NOT_COMPARED, RANGES, Question, at_fields, read_question
from gateway.web.dashboard.parts import Part, shares_of
from gateway.web.kit.forms import Form
from gateway.web.kit.lookups import CUSTOMERS
from gateway.web.kit.visits import Visit
from gateway.web.kit.workspaces import workspace_of
from schema.errors import Invalid
from schema.shares.shares import Share
from schema.workspaces.workspaces import Workspace
from storage.enums import Currency
from storage.metrics.periods import ComparedRange, Interval

# Offered in the field; every IANA name is accepted.
ZONES = (
    "UTC",
    "Africa/Johannesburg",
    "Africa/Lagos",
    "America/Chicago",
    "America/Los_Angeles",
    "America/New_York",
    "America/Sao_Paulo",
    "Asia/Dubai",
    "Asia/Kolkata",
    "Asia/Shanghai",
    "Asia/Singapore",
    "Asia/Tokyo",
    "Australia/Sydney",
    "Europe/Berlin",
    "Europe/London",
    "Europe/Paris",
    "Europe/Stockholm",
    "Pacific/Auckland",
)
_INTERVALS = [("", "Automatic"), *((each.value, f"By {each.value}") for each in reversed(Interval))]
_COMPARISONS = [
    (ComparedRange.PREVIOUS.value, "Previous period"),
    (ComparedRange.PREVIOUS_YEAR.value, "Previous year"),
    (NOT_COMPARED, "Nothing"),
]


@dataclass(frozen=True)
class Asked:
    """The workspace and the question of an address, with the shares that the form offers."""

    workspace: Workspace
    question: Question
    form: Form
    shares: Part[Sequence[Share]]

    @property
    def may_compare(self) -> bool:
        return self.workspace.feature_settings.analytics_compare


async def read_asked(visit: Visit) -> Asked:
    """Raises `NotFound`; what is wrong with the question is in the form."""
    workspace = await workspace_of(visit)
    question, form = read_question(visit.request.query_params, workspace)
    visit.request.state.zone = question.timezone
    if question.customer_id is not None:
        try:
            customer = await CUSTOMERS.one_of(visit, workspace, "customer_id", question.customer_id)
        except Invalid as invalid:
            form = replace(form, problems=[*form.problems, *at_fields(invalid.problems)])
        else:
            question = replace(question, customer_id=str(customer.id))
            form = replace(form, values={**form.values, "customer_id": [customer.email]})
    return Asked(workspace, question, form, await shares_of(visit, workspace))


def choices_of(asked: Asked) -> Mapping[str, Any]:
    """What the form offers."""
    shares = [("", "All shares"), *((str(share.id), share.name) for share in asked.shares.content or ())]
    return {
        "workspace": asked.workspace,
        "question": asked.question,
        "form": asked.form,
        "ranges": RANGES,
        "intervals": _INTERVALS,
        "comparisons": _COMPARISONS if asked.may_compare else [],
        "currencies": [("", "Default"), *((each.value, each.value.upper()) for each in Currency)],
        "zones": ZONES,
        "shares": shares,
        "filtered": _filtered(asked.question),
    }


def _filtered(question: Question) -> int:
    """How many filters differ from what they are by default."""
    return sum(
        (
            question.interval is not None,
            question.timezone != question.own_zone,
            question.currency is not None,
            question.share_id is not None,
            question.customer_id is not None,
            question.is_left_alone or question.compare is ComparedRange.PREVIOUS_YEAR,
        )
    )
