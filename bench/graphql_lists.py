"""The time of long lists of metrics over both surfaces: whole requests for the same data, all 21 metrics.

Run by `make bench`. GraphQL answers with `periods`, a list of objects as in REST, or with `series`, whole
columns. Figures are medians of rounds in which the three alternate; compare the ratios. In a range without
activity almost nothing is computed, so the time is that of the surfaces.
"""

from datetime import UTC, date, datetime, timedelta
from statistics import median
from time import perf_counter
from typing import Any

from strawberry.utils.str_converters import to_camel_case

from bench.kit.client import Client
from bench.kit.options import options
from bench.kit.report import table
from bench.kit.requests import graphql
from bench.kit.servers import gateway, site
from bench.kit.wrk import Request
from storage.metrics.definitions import METRICS

SLUGS = [metric.slug for metric in METRICS]
_ALL = " ".join(map(to_camel_case, SLUGS))
_SAME = (
    "metrics { slug displayName unit combines description } currency "
    "otherCurrencies { currency fileShareRevenue fileSharePlatformFees costs }"
)
DOCUMENTS = {
    "periods": f"periods {{ timestamp {_ALL} }} totals {{ {_ALL} }} {_SAME}",
    "series": f"timestamps series {{ slug values total }} {_SAME}",
}
YEAR = timedelta(days=364)
ENDS = {"with activity": datetime.now(UTC).date(), "without activity": date(1990, 12, 31)}
INTERVALS = {"365": "day", "8,760": "hour"}
AT_MOST = {"periods": 2.5, "series": 1.2}


def requests_for(end: date, interval: str) -> dict[str, Request]:
    """The same query over REST, and in both forms over GraphQL."""
    path = f"/api/metrics/?start_date={end - YEAR}&end_date={end}&interval={interval}"
    arguments = f'startDate: "{end - YEAR}", endDate: "{end}", interval: {interval.upper()}'
    documents = {
        name: graphql(f"{{ metrics({arguments}) {{ {fields} }} }}") for name, fields in DOCUMENTS.items()
    }
    return {"REST": Request("GET", path), **documents}


def check_same(answers: dict[str, Any]) -> None:
    """Exit unless all three requests answer the same numbers."""
    listed, columns = (answers[name]["data"]["metrics"] for name in DOCUMENTS)
    series = {entry["slug"].lower(): entry["values"] for entry in columns["series"]}
    for slug in SLUGS:
        expected = [period[slug] for period in answers["REST"]["periods"]]
        by_period = [period[to_camel_case(slug)] for period in listed["periods"]]
        if not by_period == series[slug] == expected:
            raise SystemExit(f"The surfaces disagree on {slug}.")


def milliseconds(client: Client, request: Request) -> float:
    """Until the last byte of the answer."""
    started = perf_counter()
    client.answer(request)
    return (perf_counter() - started) * 1000


def measure(client: Client, rounds: int, end: date, interval: str) -> list[str]:
    """The figures of a row: medians, and how often as long as REST both forms take."""
    requests = requests_for(end, interval)
    check_same({name: client.send(request) for name, request in requests.items()})
    turns = [[milliseconds(client, request) for request in requests.values()] for _ in range(rounds)]
    rest, *forms = map(median, zip(*turns, strict=True))
    return [f"{rest:.1f}", *(cell for form in forms for cell in (f"{form:.1f}", f"{form / rest:.2f}x"))]


def main() -> None:
    rounds = options(__doc__, rounds=15).rounds
    with site("sqlite") as made, gateway(made) as server:
        client = Client(server.address, made.token)
        rows = [
            [periods, activity, *measure(client, rounds, end, interval)]
            for periods, interval in INTERVALS.items()
            for activity, end in ENDS.items()
        ]
    header = ["periods x 21", "", "REST ms", "`periods` ms", "of REST", "`series` ms", "of REST"]
    limits = "; ".join(f"`{name}` at most {limit} times REST" for name, limit in AT_MOST.items())
    print("Long lists of metrics, SQLite, one worker\n")
    print(f"{table(header, rows)}\n\nTargets at 8,760 periods: {limits}.")


if __name__ == "__main__":
    main()
