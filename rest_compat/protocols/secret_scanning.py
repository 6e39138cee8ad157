"""GitHub's secret scanning partner program: reports of leaked credentials."""

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

from oauth.revocation.signed_reports import KeysOutOfReach, is_signed
from resolvers.credentials.leaks import report_leaks
from resolvers.operations.answers import Answer
from resolvers.operations.bodies import parse_json, read_body
from resolvers.operations.context import Context
from resolvers.operations.declaration import operation_of
from resolvers.operations.limits.admission import Demand, admit
from resolvers.operations.runner import run
from rest_compat.routing.paths import PREFIX
from rest_compat.routing.reading import rest_name
from schema.credentials.leaks import MOST_LEAKS, Leak, LeakVerdict
from schema.errors import Invalid, InvalidToken, Problem, TooLarge, Unauthorized, Unavailable
from schema.kit.problems import invalid_of, named

KEY_HEADER, SIGNATURE_HEADER = "Github-Public-Key-Identifier", "Github-Public-Key-Signature"
LARGEST_REPORT = 4 * 1024 * 1024
RETRY_AFTER_SECONDS = 60

REPORT_PATH = f"{PREFIX}/integrations/github/secret-scanning"
REPORT = operation_of(report_leaks)

_LEAKS, _VERDICTS = TypeAdapter(list[Leak]), TypeAdapter(list[LeakVerdict])


class ReportEndpoint:
    """Checks the signature of the raw body before parsing it."""

    assumes = False

    async def answer(self, ctx: Context, request: Request) -> Answer:
        await admit(ctx.caller, [Demand.of(REPORT)], restricted=REPORT.restricted)
        body = await read_body(request, LARGEST_REPORT)
        await _check_signature(ctx, request, body)
        return Answer(200, _VERDICTS.dump_json(await run(REPORT, ctx, {"data": _read(body)})))


def _read(body: bytes) -> list[Leak]:
    """Raises `Invalid` with every problem, or `TooLarge`."""
    try:
        sent = parse_json(body)
        if isinstance(sent, list) and len(sent) > MOST_LEAKS:
            raise TooLarge(f"A report can have at most {MOST_LEAKS} leaks.")
        return _LEAKS.validate_python(sent)
    except ValidationError as error:
        # A token may be real, so no problem repeats it.
        invalid = invalid_of(error)
        problems = [_without_secret(entry) for entry in invalid.problems]
    except Invalid as unreadable:
        invalid = unreadable
        problems = [entry | {"loc": []} for entry in invalid.problems]
    placed = (entry | {"loc": ["body", *entry["loc"]]} for entry in problems)
    raise Invalid((named(entry, rest_name(entry["loc"]), "The body") for entry in placed), invalid.more)


def _without_secret(entry: Problem) -> Problem:
    return {name: value for name, value in entry.items() if name != "input" or entry["loc"][-1] != "token"}


async def _check_signature(ctx: Context, request: Request, body: bytes) -> None:
    """Raises `Unauthorized`, `InvalidToken` or `Unavailable`."""
    name, signature = request.headers.get(KEY_HEADER), request.headers.get(SIGNATURE_HEADER)
    if not name or not signature:
        raise Unauthorized(
            f"This endpoint accepts signed reports only: send {KEY_HEADER} and {SIGNATURE_HEADER}."
        )
    try:
        key = await ctx.services.report_keys.find(name)
    except KeysOutOfReach:
        wait = {"Retry-After": str(RETRY_AFTER_SECONDS)}
        raise Unavailable("The keys that sign reports cannot be fetched now.", wait) from None
    if key is None or not is_signed(body, signature, key):
        raise InvalidToken("The signature does not match this body and a known key.")
