"""Which workspaces a statement is about: if it is one, a cluster of databases sends it to that one's node."""

from collections.abc import Collection
from uuid import UUID

from sqlmodel import SQLModel

from oauth.principals import Principal
from resolvers.operations.context import Context
from storage.rows.rows import table_of
from storage.workspaces.distribution import COLUMN, IS_CLUSTER


def narrowed(principal: Principal, model: type[SQLModel], asked: Collection[UUID] | None = None) -> Principal:
    """The principal for a statement on `model` and on the workspaces `asked`, by default all.

    If that is one of those that a user has access to, the principal is about this one only.
    """
    if principal.workspace_id is not None or COLUMN not in table_of(model).primary_key.columns:
        return principal
    ids = principal.workspace_ids
    if asked is not None:
        ids = tuple(id for id in ids if id in asked)
    return principal.about(ids[0]) if len(ids) == 1 else principal


async def must_be_parted(ctx: Context, principal: Principal, model: type[SQLModel]) -> bool:
    """Whether rows of several workspaces and what belongs to them are read in each of these by itself.

    A cluster of databases refuses to read both in one statement. Nothing is to be parted for a principal with
    `one_workspace_id`.
    """
    return COLUMN in table_of(model).primary_key.columns and await is_cluster(ctx)


async def is_cluster(ctx: Context) -> bool:
    """Whether the database is spread over several nodes; asked once."""
    database = ctx.services.database
    if database.is_cluster is None:
        ((database.is_cluster,),) = await ctx.fetch(IS_CLUSTER, {})
    return bool(database.is_cluster)
