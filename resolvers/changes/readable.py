"""What changes are about: by resource, the scope that reads it, and how REST reads it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlmodel import SQLModel

from oauth.principals import Principal
from oauth.scopes import Scope, covers
from resolvers.credentials.shapes import OAUTH_CLIENT, WORKSPACE_TOKEN
from resolvers.customers.shapes import CUSTOMER, MEMBER
from resolvers.file_shares.shapes import SESSION
from resolvers.files.shapes import FILE
from resolvers.operations.context import Context
from resolvers.operations.rows.reading import read_by_keys, read_one
from resolvers.operations.shapes.shaped import ShapedRow
from resolvers.operations.shapes.shapes import Shape
from resolvers.shares.shapes import CUSTOM_FIELD, SHARE
from resolvers.workspaces.shapes import WORKSPACE, WORKSPACE_MEMBER
from schema.changes.changes import ResourceData
from schema.errors import NotFound
from schema.kit.links import RowKey
from storage.changes.kinds import ChangeKind
from storage.tables.credentials.credentials import CredentialRow
from storage.tables.credentials.oauth_clients import OAuthClientRow
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.file_share_sessions import FileShareSessionRow
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import ShareRow
from storage.tables.workspaces.workspaces import WorkspaceMemberRow, WorkspaceRow


@dataclass(frozen=True)
class Readable:
    """The scope that reads a resource, and its table and shape; batches have none, but a count."""

    scope: Scope
    model: type[SQLModel] | None = None
    shape: Shape[Any] | None = None


READABLE: Mapping[str, Readable] = {
    "share": Readable(Scope.SHARES_READ, ShareRow, SHARE),
    "customer": Readable(Scope.CUSTOMERS_READ, CustomerRow, CUSTOMER),
    "member": Readable(Scope.MEMBERS_READ, MemberRow, MEMBER),
    "custom_field": Readable(Scope.CUSTOM_FIELDS_READ, CustomFieldRow, CUSTOM_FIELD),
    "file": Readable(Scope.FILES_READ, FileRow, FILE),
    "file_share_session": Readable(Scope.FILE_SHARE_SESSIONS_READ, FileShareSessionRow, SESSION),
    "file_share_sessions": Readable(Scope.FILE_SHARE_SESSIONS_READ),
    "events": Readable(Scope.EVENTS_READ),
    "workspace": Readable(Scope.WORKSPACES_READ, WorkspaceRow, WORKSPACE),
    "workspace_member": Readable(Scope.WORKSPACES_READ, WorkspaceMemberRow, WORKSPACE_MEMBER),
    "workspace_access_token": Readable(Scope.ACCESS_TOKENS_READ, CredentialRow, WORKSPACE_TOKEN),
    "oauth_client": Readable(Scope.OAUTH_CLIENTS_READ, OAuthClientRow, OAUTH_CLIENT),
}
SCOPES = tuple(dict.fromkeys(each.scope for each in READABLE.values()))


def scope_of(kind: ChangeKind) -> Scope:
    """The scope that reads the resource of the kind."""
    return READABLE[kind.resource].scope


def readable_kinds(principal: Principal, asked: Iterable[ChangeKind]) -> list[ChangeKind]:
    """Those of the kinds whose resource the principal's scopes read."""
    return [kind for kind in asked if covers(principal.scopes, scope_of(kind))]


async def read_resources(
    ctx: Context, workspace_id: UUID, ids: Mapping[str, set[UUID]]
) -> dict[UUID, ResourceData]:
    """What is there now of the resources with these ids, by resource: one statement for each of these."""
    whole = replace(ctx, selection=None, chosen=None)
    data: dict[UUID, ResourceData] = {}
    for resource, some in ids.items():
        model, shape = READABLE[resource].model, READABLE[resource].shape
        if model is None or shape is None:
            continue
        if model is WorkspaceRow:
            found = await _workspace(whole, shape, workspace_id)
        else:
            keys = [RowKey(workspace_id, id) for id in some]
            found = {
                key.id: row
                for key, row in (await read_by_keys(whole, whole.fetch, model, shape, keys)).items()
            }
        data |= {id: ResourceData(row.written()) for id, row in found.items()}
    return data


async def _workspace(ctx: Context, shape: Shape[Any], workspace_id: UUID) -> dict[UUID, ShapedRow[Any]]:
    try:
        return {workspace_id: await read_one(ctx, WorkspaceRow, shape, id=workspace_id)}
    except NotFound:
        return {}
