"""The links of each type: what the fields of `@link` in its class lead to, by their names there."""

from collections.abc import Mapping

from pydantic import BaseModel

from resolvers.events.answers import CHILDREN, EVENTS_OF_CUSTOMER, PARENT, SHARE_OF_EVENT
from resolvers.file_shares.links import (
    CUSTOMER_OF_SESSION,
    DOWNLOADS,
    PAYMENTS,
    REFUNDS,
    SESSION_OF_REPORT,
    SESSIONS_OF_CUSTOMER,
    SHARE_OF_SESSION,
)
from resolvers.operations.rows.links import Link, ToOne
from resolvers.workspaces.shapes import WORKSPACE
from schema.customers.customers import Customer
from schema.events.events import Event
from schema.file_shares.downloads import FileShareDownload
from schema.file_shares.payments import FileSharePayment, FileShareRefund
from schema.file_shares.sessions import FileShareSession
from schema.shares.shares import Share
from storage.tables.workspaces.workspaces import WorkspaceRow

_WORKSPACE = ToOne(WorkspaceRow, WORKSPACE, "workspace_id")
_OF_SESSION: Mapping[str, Link] = {"share": SHARE_OF_SESSION, "customer": CUSTOMER_OF_SESSION}
_OF_REPORT = {**_OF_SESSION, "file_share_session": SESSION_OF_REPORT}
LINKS: Mapping[type[BaseModel], Mapping[str, Link]] = {
    Share: {"workspace": _WORKSPACE},
    Customer: {
        "workspace": _WORKSPACE,
        "events": EVENTS_OF_CUSTOMER,
        "file_share_sessions": SESSIONS_OF_CUSTOMER,
    },
    Event: {"parent": PARENT, "share": SHARE_OF_EVENT, "children": CHILDREN},
    FileShareSession: {**_OF_SESSION, "downloads": DOWNLOADS, "payments": PAYMENTS, "refunds": REFUNDS},
    FileShareDownload: _OF_REPORT,
    FileSharePayment: _OF_REPORT,
    FileShareRefund: _OF_REPORT,
}
