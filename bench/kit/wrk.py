"""Load by `wrk`: the same request over and over again through many connections."""

import re
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

CONNECTIONS = 32
_MILLISECONDS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}


@dataclass(frozen=True)
class Request:
    """A request; in `body`, `NUMBER` becomes a new number each time, also between runs."""

    method: str
    path: str
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Load:
    """What `wrk` saw: requests and their rate, and two percentiles in milliseconds."""

    requests: int
    rate: float
    p50: float
    p99: float


def require_wrk() -> None:
    if shutil.which("wrk") is None:
        raise SystemExit("Install wrk to run this benchmark, on Debian by: apt-get install wrk")


def run(address: str, token: str, request: Request, seconds: float, connections: int = CONNECTIONS) -> Load:
    """Repeat the request for some seconds. Exits if an answer is no success."""
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(_script(token, request))
        script.flush()
        command = [
            "wrk",
            "-t1",
            "--timeout",
            "60s",
            f"-c{connections}",
            f"-d{max(1, round(seconds))}s",
            "--latency",
        ]
        ended = subprocess.run(
            [*command, "-s", script.name, address + request.path], capture_output=True, text=True, check=True
        )
    out = ended.stdout
    if failed := re.search(r"(Non-2xx.*|Socket errors.*)", out):
        raise SystemExit(f"{request.method} {request.path}: {failed[1]}")
    return Load(
        int(_find(r"(\d+) requests in", out)),
        float(_find(r"Requests/sec:\s+([\d.]+)", out)),
        *(_milliseconds(_find(rf"\n\s+{percent}%\s+(\S+)", out)) for percent in (50, 99)),
    )


def _script(token: str, request: Request) -> str:
    headers = {"Authorization": f"Bearer {token}", **request.headers}
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    lines = [f'wrk.headers["{name}"] = "{value}"' for name, value in headers.items()]
    lines.append(f'wrk.method = "{request.method}"')
    if request.body is None:
        return "\n".join(lines)
    lines.append(f"wrk.body = [==[{request.body}]==]")
    if "NUMBER" in request.body:
        before, after = request.body.split("NUMBER")
        number = f'"{time.time_ns()}-" .. number'
        lines += [
            "local number = 0",
            "function request()",
            "  number = number + 1",
            f"  return wrk.format(nil, nil, nil, [==[{before}]==] .. {number} .. [==[{after}]==])",
            "end",
        ]
    return "\n".join(lines)


def _find(pattern: str, out: str) -> str:
    match = re.search(pattern, out)
    if match is None:
        raise SystemExit(f"wrk printed something else than expected:\n{out}")
    return match[1]


def _milliseconds(text: str) -> float:
    number = text.rstrip("musinh")
    return float(number) * _MILLISECONDS[text.removeprefix(number)]
