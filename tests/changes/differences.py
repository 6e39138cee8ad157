"""What changed in the tables of a workspace, as kinds of changes: found out apart from the log."""

from collections.abc import Iterator, Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select

from storage.engine.database import Database
from storage.tables.registry import METADATA

# Rows by table and key, without what no answer shows.
Rows = Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]
Happened = set[tuple[str, UUID | None]]

_UNSEEN = {"modified_at", "changed_at", "last_used_at", "person", "documents_version"}
_PARTS = ("share_prices", "share_medias", "share_downloads", "share_custom_fields")
_REPORTS = {
    "file_share_downloads": "downloaded",
    "file_share_payments": "paid",
    "file_share_refunds": "refunded",
}
_NOUNS = {"customers": "customer", "members": "member", "custom_fields": "custom_field"}
_READ = (
    *_NOUNS,
    *_PARTS,
    *_REPORTS,
    *("shares", "files", "file_share_sessions", "events"),
    *("workspaces", "workspace_members", "credentials", "oauth_clients"),
)


async def rows_of(database: Database, workspace_id: UUID) -> Rows:
    """The rows of the workspace that its lists show."""
    rows: dict[str, dict[tuple[Any, ...], dict[str, Any]]] = {}
    async with database.snapshot() as connection:
        for name in _READ:
            table = METADATA.tables[name]
            home = table.c.id if name == "workspaces" else table.c.workspace_id
            found = await connection.execute(select(table).where(home == workspace_id))
            rows[name] = {
                tuple(row[column.name] for column in table.primary_key.columns): {
                    key: value for key, value in row.items() if key not in _UNSEEN
                }
                for row in found.mappings()
                if name != "credentials" or row["kind"] == "wat"
            }
    return rows


def happened(before: Rows, after: Rows) -> Happened:
    """The kinds of changes between two states, each with the id of its resource."""
    found: Happened = set()
    for name, noun in _NOUNS.items():
        found |= set(_of_noun(noun, before[name], after[name]))
    found |= set(_of_shares(before, after))
    found |= set(_of_files(before["files"], after["files"]))
    found |= set(_of_sessions(before, after))
    found |= set(_of_access(before, after))
    return found


def _pairs(before: Any, after: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each row before and after that differ; None where there is none."""
    for key in before.keys() | after.keys():
        pair = before.get(key), after.get(key)
        if pair[0] != pair[1]:
            yield pair


def _is_gone(row: Any) -> bool:
    return row is None or row.get("deleted_at") is not None


def _of_noun(noun: str, before: Any, after: Any) -> Iterator[tuple[str, UUID]]:
    for old, new in _pairs(before, after):
        if old is None:
            yield f"{noun}.created", new["id"]
        elif _is_gone(old):
            continue
        else:
            yield f"{noun}.{'deleted' if _is_gone(new) else 'updated'}", old["id"]


def _of_shares(before: Rows, after: Rows) -> Iterator[tuple[str, UUID]]:
    parts = {(old or new)["share_id"] for name in _PARTS for old, new in _pairs(before[name], after[name])}
    for key in before["shares"].keys() | after["shares"].keys():
        old, new = before["shares"].get(key), after["shares"].get(key)
        if old is None:
            yield "share.created", key[1]
        elif old["is_archived"] != new["is_archived"]:
            yield f"share.{'archived' if new['is_archived'] else 'unarchived'}", key[1]
        elif key[1] in parts or _shown(old) != _shown(new):
            yield "share.updated", key[1]


def _shown(share: Any) -> Any:
    """The share without the amount by which lists sort, which follows its price."""
    return {name: value for name, value in share.items() if name != "price_amount"}


def _of_files(before: Any, after: Any) -> Iterator[tuple[str, UUID]]:
    for old, new in _pairs(before, after):
        if old is None:
            yield "file.created", new["id"]
        elif new is None:
            yield "file.deleted", old["id"]
        elif new["is_uploaded"] and not old["is_uploaded"]:
            yield "file.uploaded", new["id"]


def _of_sessions(before: Rows, after: Rows) -> Iterator[tuple[str, UUID]]:
    for old, new in _pairs(before["file_share_sessions"], after["file_share_sessions"]):
        if old is None:
            yield "file_share_session.created", new["id"]
        elif old["status"] != new["status"] and new["status"] in ("completed", "expired"):
            yield f"file_share_session.{new['status']}", new["id"]
    for name, what in _REPORTS.items():
        for old, new in _pairs(before[name], after[name]):
            if old is None:
                yield f"file_share_session.{what}", new["file_share_session_id"]


def _of_access(before: Rows, after: Rows) -> Iterator[tuple[str, UUID]]:
    for old, new in _pairs(before["workspaces"], after["workspaces"]):
        yield f"workspace.{'updated' if old['status'] == new['status'] else 'status_changed'}", new["id"]
    for old, new in _pairs(before["workspace_members"], after["workspace_members"]):
        if new is None:
            yield "workspace_member.removed", old["id"]
        elif new["user_id"] is not None and (old is None or old["user_id"] is None):
            yield "workspace_member.joined", new["id"]
        elif old is None or old["expires_at"] != new["expires_at"]:
            yield "workspace_member.invited", new["id"]
        elif old["role"] != new["role"]:
            yield "workspace_member.role_changed", new["id"]
    for old, new in _pairs(before["credentials"], after["credentials"]):
        if old is None:
            yield "workspace_access_token.created", new["id"]
        else:
            what = "updated" if old["revoked_at"] == new["revoked_at"] else "revoked"
            yield f"workspace_access_token.{what}", new["id"]
    yield from _of_noun("oauth_client", before["oauth_clients"], after["oauth_clients"])
