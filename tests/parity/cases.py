"""Calls of every operation, drawn so that most of them succeed and the others fail in every way."""

from dataclasses import dataclass
from random import Random
from typing import Any

from resolvers.operations.declaration import Operation
from rest_compat.api import operation_routes
from schema.kit.annotations import is_list, unwrap
from tests.parity.homes import Home
from tests.parity.subjects import make_subject
from tests.parity.values import Values
from tests.support.callers.examples import EXAMPLES
from tests.support.callers.refusals import UNKNOWN_ID
from tests.support.callers.world import World

OPERATIONS: dict[str, Operation] = {name: route.operation for name, route in operation_routes().items()}
JUNK = [None, True, -1, 0, 2**31, 2**63, 1.5, "", "x", "x" * 300, "nul\x00", "DE", [], {}, {"a": 1}]
# Everything in a query is a text over REST, so that only a text can be wrong for what is no number.
FILTER_JUNK = ["x", "x" * 300, "-1", "2026-02-30", UNKNOWN_ID]
NUMBER_JUNK = [-1, 0, 101, 2**31]
# Fields that only make sense together, or not at all.
KEPT = {
    "complete_file_upload": frozenset({"id", "path", "parts"}),
    "copy_workspace": frozenset({"slug"}),
    "create_file": frozenset({"size", "upload", "service", "mime_type", "checksum_sha256_base64"}),
    "authenticate_portal_code": frozenset({"email", "slug", "workspace_id", "code", "customer_id"}),
    "request_portal_code": frozenset({"email", "slug", "workspace_id"}),
    "create_customer_session": frozenset({"external_customer_id", "external_member_id", "member_id"}),
    "create_customer": frozenset({"owner"}),
    "refund_payment": frozenset({"at", "platform_fee"}),
    "update_customer": frozenset({"type"}),
    "create_member": frozenset({"customer_id"}),
    "create_share": frozenset({"attached_custom_fields", "downloads"}),
    "update_share": frozenset({"attached_custom_fields", "downloads"}),
    "download_portal_file": frozenset({"file_id"}),
    "create_file_share_session": frozenset({"external_customer_id", "customer_id", "created_at"}),
}
PAGES = ("page", "limit", "after", "sorting", "timezone")


@dataclass(frozen=True)
class Case:
    """A call in one home: the arguments, and what else is done with them.

    `chances` are the case's own draws, for what is done beside the call.
    """

    world: World
    arguments: dict[str, Any]
    chances: Random


async def make_case(home: Home, name: str, seed: int, number: int) -> Case:
    """The case with this number in the home; the same number gives the same case in each home.

    Number 0 is the operation's example.
    """
    unique = f"{name.replace('_', '-')}-{seed}-{number}"
    world, said = await make_subject(home, name, unique)
    random = Random(unique)
    values = Values(home, random, name, unique)
    arguments = dict(EXAMPLES[name](world))
    operation = OPERATIONS[name]
    if number == 0:
        if said:
            arguments["data"] |= said
        return Case(world, arguments, random)
    for parameter in operation.parameters:
        if parameter.place == "data":
            example = arguments.get("data", {}) | said
            kept = KEPT.get(name, frozenset()) | said.keys()
            arguments["data"] = values.data(parameter.annotation, example, kept)
        elif parameter.place == "filters":
            arguments = _filters(values, operation, arguments)
        elif parameter.annotation is bool and random.random() < 0.5:
            arguments[parameter.name] = random.random() < 0.5
    if random.random() < 0.2:
        _spoil(random, operation, arguments)
    return Case(world, arguments, random)


def _filters(values: Values, operation: Operation, example: dict[str, Any]) -> dict[str, Any]:
    """Some of the filters of a list, a page of it and its order."""
    random, model = values.random, operation.filters
    assert model is not None
    if operation.name == "get_metrics":
        return _measured(values, model, example)
    arguments = example if random.random() < 0.5 else {}
    for name, field in model.model_fields.items():
        chance = 0.35 if name in PAGES else 0.2
        if name == "metadata":
            if random.random() < chance:
                arguments[name] = [{"key": random.choice(["plan", "year", "page"]), "value": "pro"}]
        elif name != "after" and random.random() < chance:
            arguments[name] = values.of(name, field.annotation)
    _in_order(arguments, "start_date", "end_date")
    return arguments


def _measured(values: Values, model: Any, example: dict[str, Any]) -> dict[str, Any]:
    """Metrics over years by month or year, or over weeks by hour, day or week, in every combination."""
    random = values.random
    arguments = {**example, "workspace_id": [values.home.tenant.id]}
    if random.random() < 0.5:
        year = random.choice([2024, 2025, 2026])
        dates = {"start_date": f"{year}-01-01", "end_date": f"{random.choice([2026, 2031])}-12-31"}
        arguments |= dates | {"interval": random.choice(["month", "year"])}
    else:
        dates = {"start_date": random.choice(["2026-01-01", "2026-01-31"]), "end_date": "2026-02-03"}
        arguments |= dates | {"interval": random.choice(["hour", "day", "week"])}
    del arguments["compare"], arguments["group_by"]
    for name in ("timezone", "share_id", "customer_id", "metrics", "currency", "compare", "group_by", "top"):
        if random.random() < (0.6 if name in {"group_by", "compare"} else 0.3):
            arguments[name] = values.of(name, model.model_fields[name].annotation)
    if "group_by" in arguments and random.random() < 0.3:
        arguments["top_by"] = values.of("top_by", model.model_fields["top_by"].annotation)
    return arguments


def _in_order(arguments: dict[str, Any], first: str, last: str) -> None:
    if first in arguments and last in arguments:
        earlier, later = sorted((arguments[first], arguments[last]))
        arguments |= {first: earlier, last: later}


def _spoil(random: Random, operation: Operation, arguments: dict[str, Any]) -> None:
    """Make a mistake, of which most are refused."""
    data = arguments.get("data")
    names = [name for name in ("id", "external_id") if name in arguments]
    if isinstance(data, dict) and (not names or random.random() < 0.7):
        name = random.choice(sorted(data) or ["name"])
        kind = random.randrange(4)
        if kind == 0:
            data.pop(name, None)
        elif kind == 1:
            data["colour"] = "red"
        elif not isinstance(data.get(name), list):
            # GraphQL would wrap what is no list into one.
            data[name] = random.choice(JUNK)
    elif names:
        arguments[names[0]] = random.choice([UNKNOWN_ID, "x", "7", ""]) or UNKNOWN_ID
    elif operation.filters is not None:
        _spoil_filter(random, operation.filters, arguments)


def _spoil_filter(random: Random, model: Any, arguments: dict[str, Any]) -> None:
    name = random.choice(sorted(model.model_fields))
    if name == "metadata":
        arguments[name] = [{"key": "a" * 41, "value": "x"}]
        return
    annotation = model.model_fields[name].annotation
    value = random.choice(NUMBER_JUNK if unwrap(annotation) is int else FILTER_JUNK)
    arguments[name] = [value] if is_list(annotation) else value
