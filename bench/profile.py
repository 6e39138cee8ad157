"""Where the gateway's processor time goes during one list: `python -m bench.profile`.

Prints the parts of the code by their share of the samples, of which there is one each millisecond.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from bench import servers, wrk
from bench.report import table
from bench.requests import cases

LEAST_PERCENT = 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--request", default="REST: list of 10 shares", help="the name of a request of bench.http"
    )
    parser.add_argument("--seconds", type=float, default=10)
    arguments = parser.parse_args()
    wrk.require_wrk()
    request = next(case.ours for case in cases("") if case.name == arguments.request)
    with tempfile.TemporaryDirectory() as folder, servers.site(Path(folder), on_postgresql=True) as site:
        samples = Path(folder) / "samples.json"
        program = [sys.executable, "-m", "bench.sampling"]
        with servers.gateway(
            site, program=program, PYTHONPATH=str(servers.ROOT), SAMPLES=str(samples)
        ) as server:
            wrk.run(server.address, site.token, request, 2)
            os.kill(server.pid, signal.SIGUSR1)
            wrk.run(server.address, site.token, request, arguments.seconds)
        counts: dict[str, int] = json.loads(samples.read_text())
    total = sum(counts.values())
    percents = sorted(((100 * count / total, part) for part, count in counts.items()), reverse=True)
    rows = [[part, f"{percent:.0f} %"] for percent, part in percents if percent >= LEAST_PERCENT]
    print(table([f"{arguments.request}: code", "of the samples"], rows))


if __name__ == "__main__":
    main()
