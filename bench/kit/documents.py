"""Documents of GraphQL with links, as a dashboard asks them; `bench/floor/documents.py` answers each."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

# Of the dashboard's metrics, up to the day on which this was loaded.
DAYS = 30
_TODAY = datetime.now(UTC).date()
METRICS = ("fileShareSessions", "fileShareDownloads", "fileShareRevenue")
_SESSION = "id status createdAt priceAmount priceCurrency"


class Document(NamedTuple):
    """A document with its name in tables, its path on the floor, and the least ratio of processor times.

    The id of a session is its variable `id`, and takes the place of `ID` in the path.
    """

    name: str
    text: str
    path: str
    target: float


def dashboard() -> str:
    """Four lists, two of them with their totals, and three metrics by day."""
    first, values = _TODAY - timedelta(days=DAYS - 1), " ".join(METRICS)
    return (
        f'{{ metrics(startDate: "{first}", endDate: "{_TODAY}", interval: DAY, '
        "metrics: [FILE_SHARE_SESSIONS, FILE_SHARE_DOWNLOADS, FILE_SHARE_REVENUE]) "
        f"{{ currency periods {{ timestamp {values} }} totals {{ {values} }} }} "
        f"newest: fileShareSessions(limit: 5) {{ data {{ {_SESSION} "
        "share { id name } customer { id email name } } } "
        "customers(limit: 5) { data { id email name createdAt } meta { total } } "
        "shares(limit: 5) { data { id name visibility prices { id priceAmount priceCurrency } } "
        "meta { total } } "
        "events(limit: 5) { data { id name label timestamp } } }"
    )


DOCUMENTS = (
    Document(
        "GraphQL: 10 sessions with their share",
        f"{{ fileShareSessions(limit: 10) {{ data {{ {_SESSION} share {{ id name }} }} }} }}",
        "/graph/link",
        0.9,
    ),
    Document(
        "GraphQL: 10 sessions with share, customer and 3 payments",
        f"{{ fileShareSessions(limit: 10) {{ data {{ {_SESSION} share {{ id name }} "
        "customer { id email name } payments(limit: 3) { data { id at amount currency } } } } }",
        "/graph/links",
        0.9,
    ),
    Document(
        "GraphQL: 5 customers with 3 sessions and their share's prices",
        "{ customers(limit: 5) { data { id email name fileShareSessions(limit: 3) { "
        "data { id status createdAt share { id name prices { id priceAmount priceCurrency } } } } } } }",
        "/graph/levels",
        0.8,
    ),
    Document(
        "GraphQL: a connection of 10 customers with cursors",
        "{ customers(first: 10) { edges { cursor node { id email name } } "
        "pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }",
        "/graph/connection",
        0.9,
    ),
    Document(
        "GraphQL: `node` with a link",
        "query ($id: ID!) { node(id: $id) { id "
        "... on FileShareSession { status createdAt share { id name } } } }",
        "/graph/node/ID",
        0.8,
    ),
    Document(
        "GraphQL: a dashboard of four lists and metrics", dashboard(), f"/graph/dashboard/{_TODAY}", 0.7
    ),
)
