"""The time of long lists of metrics over both surfaces: whole requests for the same data, all 21 metrics.

Run by `make bench`. GraphQL answers with `periods`, a list of objects as in REST, or with `series`, whole
columns. Figures are medians of rounds in which the three alternate; compare the ratios. In a range without
activity almost nothing is computed, so the time is that of the surfaces.
"""

import argparse
import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import aiohttp
import orjson
from strawberry.utils.str_converters import to_camel_case

from bench.servers import gateway, site
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
ENDS = {
    "with activity": datetime.now(UTC).date(),
    "without activity": datetime(1990, 12, 31, tzinfo=UTC).date(),
}
INTERVALS = {"365": "day", "8,760": "hour"}
AT_MOST = {"periods": 2.5, "series": 1.2}


def requests_for(address: str, end: Any, interval: str) -> dict[str, tuple[str, str, dict[str, Any]]]:
    """The same query over REST, and in both forms over GraphQL."""
    dates = {"start_date": f"{end - YEAR}", "end_date": f"{end}", "interval": interval}
    arguments = f'startDate: "{end - YEAR}", endDate: "{end}", interval: {interval.upper()}'
    requests: dict[str, tuple[str, str, dict[str, Any]]] = {
        "REST": ("GET", f"{address}/api/metrics/", {"params": dates})
    }
    for name, fields in DOCUMENTS.items():
        document = f"{{ metrics({arguments}) {{ {fields} }} }}"
        requests[name] = ("POST", f"{address}/graphql", {"json": {"query": document}})
    return requests


async def send(
    client: aiohttp.ClientSession, request: tuple[str, str, dict[str, Any]]
) -> tuple[float, bytes]:
    """The milliseconds until the last byte of the answer, and the answer."""
    started = perf_counter()
    async with client.request(request[0], request[1], **request[2]) as answer:
        body = await answer.read()
        if answer.status != 200 or b'"errors"' in body:
            raise SystemExit(f"{request[1]} answered {answer.status}: {body[:300]!r}")
    return (perf_counter() - started) * 1000, body


def check_same(answers: dict[str, bytes]) -> None:
    """Exit unless all three requests answer the same numbers."""
    rest = orjson.loads(answers["REST"])
    listed, columns = (orjson.loads(answers[name])["data"]["metrics"] for name in DOCUMENTS)
    series = {entry["slug"].lower(): entry["values"] for entry in columns["series"]}
    for slug in SLUGS:
        expected = [period[slug] for period in rest["periods"]]
        if [period[to_camel_case(slug)] for period in listed["periods"]] != expected or series[
            slug
        ] != expected:
            raise SystemExit(f"The surfaces disagree on {slug}.")


async def measure(address: str, token: str, rounds: int) -> dict[tuple[str, str], dict[str, float]]:
    medians = {}
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {token}"}) as client:
        for count, interval in INTERVALS.items():
            for activity, end in ENDS.items():
                requests = requests_for(address, end, interval)
                check_same({name: (await send(client, request))[1] for name, request in requests.items()})
                times: dict[str, list[float]] = {name: [] for name in requests}
                for _ in range(rounds):
                    for name, request in requests.items():
                        times[name].append((await send(client, request))[0])
                medians[count, activity] = {name: median(values) for name, values in times.items()}
    return medians


def table(figures: dict[tuple[str, str], dict[str, float]]) -> str:
    lines = [
        "| periods x 21 | | REST ms | `periods` ms | of REST | `series` ms | of REST |",
        "|---|---|" + "---:|" * 5,
    ]
    for (count, activity), times in figures.items():
        cells = [f"{times['REST']:.1f}"]
        for name in DOCUMENTS:
            cells += [f"{times[name]:.1f}", f"{times[name] / times['REST']:.2f}x"]
        lines.append(f"| {count} | {activity} | {' | '.join(cells)} |")
    limits = "; ".join(f"`{name}` at most {limit} times REST" for name, limit in AT_MOST.items())
    return "\n".join([*lines, "", f"Targets at 8,760 periods: {limits}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="calls of each kind; the table shows medians")
    rounds = parser.parse_args().rounds
    with (
        tempfile.TemporaryDirectory() as folder,
        site(Path(folder), on_postgresql=False) as made,
        gateway(made) as server,
    ):
        figures = asyncio.run(measure(server.address, made.token, rounds))
    print("Long lists of metrics, SQLite, one worker\n")
    print(table(figures))


if __name__ == "__main__":
    main()
