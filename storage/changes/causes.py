"""What changes of rows mean for the change log: by table, which kind of change each of them is.

Rows are written by `storage/rows/` alone, which calls the functions at the end. A change of columns that no
field shows keeps `modified_at`, and is no change of the resource.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Column
from sqlmodel import SQLModel

from storage.changes.kinds import ChangeKind as Kind
from storage.changes.log import log_of
from storage.engine.connections import Connection
from storage.enums import CredentialKind, EventSource, FileShareSessionStatus
from storage.tables.base import Values, table_of
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.events.events import EventRow
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.file_share_sessions import (
    FileShareDownloadRow,
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import ShareRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow

# In the order of preference: an operation declares one of them.
Kinds = tuple[Kind, ...]
NOTHING: Kinds = ()


@dataclass(frozen=True, eq=False)
class Causes:
    """The changes that the rows of a table cause, from the values of a row by column.

    `updated` takes those before and after. `touched` takes the names of the columns that one statement
    changes in many rows. Rows that do not meet `concerns` cause nothing. `id` and `home` are the columns of
    the resource and of its workspace; a row `counts` if it is an item of what is ingested.
    """

    inserted: Callable[[Values], Kinds] = lambda row: NOTHING
    updated: Callable[[Values, Values], Kinds] = lambda before, after: NOTHING
    touched: Callable[[Collection[str]], Kinds] = lambda names: NOTHING
    deleted: Kinds = NOTHING
    concerns: Callable[[Values], bool] = lambda row: True
    id: str = "id"
    home: str = "workspace_id"
    counts: bool = True


def _update_of_share(before: Values, after: Values) -> Kinds:
    if before["is_archived"] != after["is_archived"]:
        return (Kind.SHARE_ARCHIVED if after["is_archived"] else Kind.SHARE_UNARCHIVED,)
    return (Kind.SHARE_UPDATED,)


def _update_of_file(before: Values, after: Values) -> Kinds:
    return (Kind.FILE_UPLOADED,) if after["is_uploaded"] and not before["is_uploaded"] else NOTHING


_ENDS: Mapping[str, Kind] = {
    FileShareSessionStatus.COMPLETED.value: Kind.FILE_SHARE_SESSION_COMPLETED,
    FileShareSessionStatus.EXPIRED.value: Kind.FILE_SHARE_SESSION_EXPIRED,
}


def _update_of_session(before: Values, after: Values) -> Kinds:
    status = after["status"]
    return (_ENDS[status],) if status in _ENDS and status != before["status"] else NOTHING


def _update_of_workspace(before: Values, after: Values) -> Kinds:
    if after["deleted_at"] is not None:
        return NOTHING
    is_status = before["status"] != after["status"]
    return (Kind.WORKSPACE_STATUS_CHANGED if is_status else Kind.WORKSPACE_UPDATED,)


def _insert_of_workspace_member(row: Values) -> Kinds:
    is_member = row["user_id"] is not None
    return (Kind.WORKSPACE_MEMBER_JOINED if is_member else Kind.WORKSPACE_MEMBER_INVITED,)


def _update_of_workspace_member(before: Values, after: Values) -> Kinds:
    if before["user_id"] is None and after["user_id"] is not None:
        return (Kind.WORKSPACE_MEMBER_JOINED,)
    if before["expires_at"] != after["expires_at"]:
        return (Kind.WORKSPACE_MEMBER_INVITED,)
    return (Kind.WORKSPACE_MEMBER_ROLE_CHANGED,) if before["role"] != after["role"] else NOTHING


def _update_of_token(before: Values, after: Values) -> Kinds:
    is_end = before["revoked_at"] is None and after["revoked_at"] is not None
    return _ENDS_OF_TOKEN if is_end else (Kind.WORKSPACE_ACCESS_TOKEN_UPDATED,)


def _deletable(updated: Kind, deleted: Kind) -> Callable[[Values, Values], Kinds]:
    """An update that may set `deleted_at`."""
    return lambda before, after: (updated if after["deleted_at"] is None else deleted,)


def _unless_deleted(kind: Kind) -> Callable[[Values], Kinds]:
    """An insert; a copy of a workspace inserts deleted rows too, of which nobody is told."""
    return lambda row: (kind,) if row["deleted_at"] is None else NOTHING


def _in_session(kind: Kind) -> Causes:
    """What was reported of a session, by itself or as part of a history."""
    kinds = (kind, Kind.FILE_SHARE_SESSIONS_INGESTED)
    return Causes(inserted=lambda row: kinds, id="file_share_session_id", counts=False)


_INGESTED_EVENT = (Kind.EVENTS_INGESTED,)
_ENDS_OF_TOKEN = (Kind.WORKSPACE_ACCESS_TOKEN_REVOKED, Kind.WORKSPACE_ACCESS_TOKEN_LEAKED)

CAUSES: Mapping[type[SQLModel], Causes] = {
    ShareRow: Causes(
        inserted=lambda row: (Kind.SHARE_CREATED,),
        updated=_update_of_share,
        touched=lambda names: (Kind.SHARE_UPDATED,),
    ),
    CustomerRow: Causes(
        inserted=_unless_deleted(Kind.CUSTOMER_CREATED),
        updated=_deletable(Kind.CUSTOMER_UPDATED, Kind.CUSTOMER_DELETED),
    ),
    MemberRow: Causes(
        inserted=_unless_deleted(Kind.MEMBER_CREATED),
        updated=_deletable(Kind.MEMBER_UPDATED, Kind.MEMBER_DELETED),
        touched=lambda names: (Kind.MEMBER_UPDATED,),
        deleted=(Kind.MEMBER_DELETED,),
    ),
    CustomFieldRow: Causes(
        inserted=lambda row: (Kind.CUSTOM_FIELD_CREATED,),
        updated=lambda before, after: (Kind.CUSTOM_FIELD_UPDATED,),
        deleted=(Kind.CUSTOM_FIELD_DELETED,),
    ),
    FileRow: Causes(
        inserted=lambda row: (Kind.FILE_CREATED,), updated=_update_of_file, deleted=(Kind.FILE_DELETED,)
    ),
    FileShareSessionRow: Causes(
        inserted=lambda row: (Kind.FILE_SHARE_SESSION_CREATED, Kind.FILE_SHARE_SESSIONS_INGESTED),
        updated=_update_of_session,
    ),
    FileShareDownloadRow: _in_session(Kind.FILE_SHARE_SESSION_DOWNLOADED),
    FileSharePaymentRow: _in_session(Kind.FILE_SHARE_SESSION_PAID),
    FileShareRefundRow: _in_session(Kind.FILE_SHARE_SESSION_REFUNDED),
    EventRow: Causes(inserted=lambda row: _INGESTED_EVENT if row["source"] == EventSource.USER else NOTHING),
    WorkspaceRow: Causes(
        updated=_update_of_workspace,
        touched=lambda names: (Kind.WORKSPACE_UPDATED,) if "avatar_url" in names else NOTHING,
        home="id",
    ),
    WorkspaceMemberRow: Causes(
        inserted=_insert_of_workspace_member,
        updated=_update_of_workspace_member,
        deleted=(Kind.WORKSPACE_MEMBER_REMOVED,),
    ),
    CredentialRow: Causes(
        inserted=lambda row: (Kind.WORKSPACE_ACCESS_TOKEN_CREATED,),
        updated=_update_of_token,
        touched=lambda names: _ENDS_OF_TOKEN if "revoked_at" in names else NOTHING,
        concerns=lambda row: (
            row["kind"] == CredentialKind.WORKSPACE_TOKEN and row["workspace_id"] is not None
        ),
    ),
    OAuthClientRow: Causes(
        inserted=lambda row: (Kind.OAUTH_CLIENT_CREATED,),
        updated=_deletable(Kind.OAUTH_CLIENT_UPDATED, Kind.OAUTH_CLIENT_DELETED),
        touched=lambda names: (Kind.OAUTH_CLIENT_DELETED,) if "deleted_at" in names else NOTHING,
        concerns=lambda row: row["workspace_id"] is not None,
    ),
}


def log_inserted(connection: Connection, model: type[SQLModel], rows: Sequence[Values]) -> None:
    """Log what rows cause that the transaction inserts, with a value for every column."""
    causes = CAUSES.get(model)
    if causes is None:
        return
    for kinds, some in groupby(rows, key=causes.inserted):
        if len(rows) > 1 and kinds and log_of(connection).is_batch(kinds):
            # Nearly always one workspace, and many rows.
            for home, own in groupby(some, key=itemgetter(causes.home)):
                count = len(list(own)) if causes.counts else 0
                log_of(connection).add(connection, kinds, home, None, count)
        else:
            for row in some:
                _log(connection, causes, kinds, row)


def log_updated(connection: Connection, model: type[SQLModel], before: Values, after: Values) -> None:
    """Log what the change of one row causes."""
    causes = CAUSES.get(model)
    if causes is None or before.get("deleted_at") is not None:
        return
    if "modified_at" not in after or before["modified_at"] != after["modified_at"]:
        _log(connection, causes, causes.updated(before, after), after)


def log_deleted(connection: Connection, model: type[SQLModel], rows: Sequence[Values]) -> None:
    """Log what the deletion of rows causes."""
    causes = CAUSES.get(model)
    if causes is not None and causes.deleted:
        for row in rows:
            _log(connection, causes, causes.deleted, row)


def touched_columns(model: type[SQLModel], names: Collection[str]) -> list[Column[Any]]:
    """What `log_touched` has to know of the rows in which one statement changes these columns."""
    causes = CAUSES.get(model)
    if causes is None or not causes.touched(names):
        return []
    needed = {causes.id, causes.home, "kind", "deleted_at"}
    return [column for column in table_of(model).c if column.name in needed]


def log_touched(
    connection: Connection, model: type[SQLModel], names: Collection[str], rows: Sequence[Values]
) -> None:
    """Log what one statement causes that has changed these columns in rows."""
    causes = CAUSES[model]
    for row in rows:
        if "deleted_at" in names or row.get("deleted_at") is None:
            _log(connection, causes, causes.touched(names), row)


def _log(connection: Connection, causes: Causes, kinds: Kinds, row: Values) -> None:
    if kinds and causes.concerns(row):
        log_of(connection).add(connection, kinds, row[causes.home], row[causes.id], int(causes.counts))
