"""The call behind a chart: as a GraphQL document and as a curl command.

None of them has a credential: the command reads it from `$TOKEN`.
"""

from collections.abc import Mapping
from typing import Any

from strawberry.utils.str_converters import to_camel_case

_IN_CAPITALS = frozenset({"interval", "currency", "compare", "metrics"})


def graphql_of(arguments: Mapping[str, Any], slug: str) -> str:
    written = ",\n".join(
        f"    {to_camel_case(name)}: {_literal(name, value)}"
        for name, value in {**arguments, "metrics": [slug]}.items()
    )
    compared = "\n    comparison { timestamps series { values total } }" if "compare" in arguments else ""
    return (
        f"{{\n  metrics(\n{written}\n  ) {{\n    currency\n    metrics {{ displayName unit exponent }}\n"
        f"    timestamps\n    series {{ values total }}{compared}\n  }}\n}}"
    )


def curl_of(arguments: Mapping[str, Any], slug: str, base_url: str) -> str:
    sent = [f'  --data-urlencode "{name}={value}"' for name, value in _pairs(arguments, slug)]
    lines = [
        f'curl --get "{base_url.rstrip("/")}/metrics/"',
        '  --header "Authorization: Bearer $TOKEN"',
        *sent,
    ]
    return " \\\n".join(lines)


def report_of(base_url: str) -> str:
    """A command that reports an event."""
    return (
        f'curl "{base_url.rstrip("/")}/events/ingest" \\\n'
        '  --header "Authorization: Bearer $TOKEN" \\\n'
        '  --json \'{"events": [{"name": "page.viewed", "external_customer_id": "reader-1"}]}\''
    )


def _pairs(arguments: Mapping[str, Any], slug: str) -> list[tuple[str, str]]:
    """Names and values as a query repeats them."""
    return [
        (name, str(item))
        for name, value in {**arguments, "metrics": [slug]}.items()
        for item in (value if isinstance(value, list) else [value])
    ]


def _literal(name: str, value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_literal(name, item) for item in value)}]"
    return str(value).upper() if name in _IN_CAPITALS else f'"{value}"'
