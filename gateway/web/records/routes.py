"""The routes of the pages of records."""

from starlette.routing import Route

from gateway.web.records.amounts import amount_routes
from gateway.web.records.custom_fields import CUSTOM_FIELDS
from gateway.web.records.customers import CUSTOMERS, MEMBERS
from gateway.web.records.events import EVENTS
from gateway.web.records.files import FILES, download_routes
from gateway.web.records.kit.pages import routes_of
from gateway.web.records.search import search_routes
from gateway.web.records.sessions import DOWNLOADS, PAYMENTS, REFUNDS, SESSIONS
from gateway.web.records.shares import SHARES

RECORDS = (
    SHARES,
    CUSTOMERS,
    MEMBERS,
    SESSIONS,
    DOWNLOADS,
    PAYMENTS,
    REFUNDS,
    EVENTS,
    FILES,
    CUSTOM_FIELDS,
)


def record_routes() -> list[Route]:
    return [*search_routes(), *amount_routes(), *download_routes(), *routes_of(RECORDS)]
