"""What `duograph workspaces` does."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gateway.cli.kit.as_user import in_place_of, in_place_of_workspace, perform
from gateway.cli.kit.database import migrated, read_settings, wait_for
from gateway.cli.kit.input import user_of, workspace_of
from gateway.cli.kit.output import listing, sheet, show, table
from gateway.settings.settings import Settings
from resolvers.workspaces.administration import (
    change_status,
    list_all_workspaces,
    list_members,
    set_review_threshold,
    set_role,
)
from resolvers.workspaces.copying import copy_workspace
from resolvers.workspaces.deletion import end_workspace
from resolvers.workspaces.memberships import lock_members
from resolvers.workspaces.workspaces import create_workspace
from schema.values.scalars import write_moment
from schema.workspaces.workspaces import Workspace
from storage.enums import WorkspaceRole, WorkspaceStatus
from storage.rows.rows import values_of
from storage.tables.workspaces.workspaces import WorkspaceRow

LISTED = ("slug", "name", "status", "id", "created_at")
SHOWN = (*LISTED, "email", "website", "details_submitted_at")


def create(name: str, slug: str, owner: str, *, as_json: bool) -> None:
    workspace = wait_for(_create(read_settings(), name, slug, owner))
    text = f"Created the workspace {workspace.slug} ({workspace.id}) of {owner}."
    show(workspace.model_dump(mode="json"), text, as_json=as_json)


def copy(slug: str, owner: str, data: Mapping[str, str | bool | None], *, as_json: bool) -> None:
    sent = {name: value for name, value in data.items() if value is not None}
    workspace = wait_for(_copy(read_settings(), slug, owner, sent))
    text = f"Copied {slug} into the test workspace {workspace.slug} ({workspace.id}) of {owner}."
    show(workspace.model_dump(mode="json"), text, as_json=as_json)


def list_(limit: int, *, as_json: bool) -> None:
    rows = wait_for(_list(read_settings(), limit))
    show({"workspaces": rows}, listing("workspaces", rows, LISTED), as_json=as_json)


def show_(slug: str, *, as_json: bool) -> None:
    workspace = wait_for(_show(read_settings(), slug)).model_dump(mode="json")
    show(workspace, sheet({name: workspace[name] for name in SHOWN}), as_json=as_json)


async def _list(settings: Settings, limit: int) -> list[dict[str, Any]]:
    async with migrated(settings) as database, database.read() as connection:
        rows = await list_all_workspaces(connection, limit)
    whole = [Workspace.model_validate(values_of(row)).model_dump(mode="json") for row in rows]
    return [{name: workspace[name] for name in LISTED} for workspace in whole]


async def _show(settings: Settings, slug: str) -> Workspace:
    async with migrated(settings) as database, database.read() as connection:
        return Workspace.model_validate(values_of(await workspace_of(connection, slug)))


def delete(slug: str, *, as_json: bool) -> None:
    workspace = wait_for(_delete(read_settings(), slug))
    text = f"Deleted the workspace {slug} ({workspace['id']}). A running gateway removes its data."
    show(workspace, text, as_json=as_json)


async def _delete(settings: Settings, slug: str) -> dict[str, Any]:
    async with migrated(settings) as database, database.write() as connection:
        await lock_members(connection, (await workspace_of(connection, slug)).id)
        # Another deletion may have come first.
        workspace = await workspace_of(connection, slug)
        ctx = in_place_of_workspace(workspace.id, settings, database)
        await end_workspace(replace(ctx, transaction=connection), workspace, by=None)
        return {"id": str(workspace.id), "slug": workspace.slug}


def status(slug: str, status: WorkspaceStatus, *, as_json: bool) -> None:
    workspace = wait_for(_move(read_settings(), slug, status))
    text = f"The workspace {workspace.slug} is {workspace.status.value}."
    show(workspace.model_dump(mode="json"), text, as_json=as_json)


def review_threshold(slug: str, threshold: int, *, as_json: bool) -> None:
    workspace = wait_for(_set_threshold(read_settings(), slug, threshold))
    result = {"slug": workspace.slug, "next_review_threshold": workspace.next_review_threshold}
    revenue = f"a revenue of {threshold} in minor units" if threshold else "no revenue"
    show(result, f"The workspace {workspace.slug} is next reviewed at {revenue}.", as_json=as_json)


async def _set_threshold(settings: Settings, slug: str, threshold: int) -> WorkspaceRow:
    async with migrated(settings) as database, database.write() as connection:
        workspace = await workspace_of(connection, slug)
        return await set_review_threshold(connection, workspace, threshold or None)


def members(slug: str, *, as_json: bool) -> None:
    rows = wait_for(_members(read_settings(), slug))
    headings = ("EMAIL", "ROLE", "JOINED", "INVITED UNTIL")
    cells = [(row["email"], row["role"], row["joined_at"] or "-", row["expires_at"] or "-") for row in rows]
    show({"members": rows}, table([headings, *cells]), as_json=as_json)


def role(slug: str, email: str, role: WorkspaceRole, *, as_json: bool) -> None:
    wait_for(_set_role(read_settings(), slug, email, role))
    result = {"slug": slug, "email": email, "role": role.value}
    noun = "an owner" if role is WorkspaceRole.OWNER else "a member"
    show(result, f"{email} is now {noun} of {slug}.", as_json=as_json)


async def _members(settings: Settings, slug: str) -> list[dict[str, Any]]:
    async with migrated(settings) as database, database.snapshot() as connection:
        workspace = await workspace_of(connection, slug)
        return [
            {
                "email": member.address,
                "role": member.row.role,
                "joined_at": write_moment(member.row.joined_at) if member.row.joined_at else None,
                "expires_at": write_moment(member.row.expires_at) if member.row.expires_at else None,
            }
            for member in await list_members(connection, workspace.id)
        ]


async def _set_role(settings: Settings, slug: str, email: str, role: WorkspaceRole) -> None:
    async with migrated(settings) as database, database.write() as connection:
        workspace, user = await workspace_of(connection, slug), await user_of(connection, email)
        await set_role(connection, workspace.id, user.id, role)


async def _create(settings: Settings, name: str, slug: str, owner: str) -> Workspace:
    async with migrated(settings) as database:
        async with database.read() as connection:
            user = await user_of(connection, owner)
        ctx = in_place_of(user, settings, database, reserved_slugs=_reserved_slugs(settings))
        workspace: Workspace = await perform(ctx, create_workspace, data={"name": name, "slug": slug})
        return workspace


async def _copy(settings: Settings, slug: str, owner: str, data: dict[str, str | bool]) -> Workspace:
    async with migrated(settings) as database:
        async with database.read() as connection:
            source, user = await workspace_of(connection, slug), await user_of(connection, owner)
        ctx = in_place_of(user, settings, database, reserved_slugs=_reserved_slugs(settings))
        workspace: Workspace = await perform(ctx, copy_workspace, id=source.id, data=data)
        return workspace


def _reserved_slugs(settings: Settings) -> frozenset[str]:
    # Only the application knows the first segments of all addresses, and its import takes long.
    from gateway.app import create_app  # noqa: PLC0415

    slugs: frozenset[str] = create_app(settings).state.services.reserved_slugs
    return slugs


async def _move(settings: Settings, slug: str, status: WorkspaceStatus) -> Workspace:
    async with migrated(settings) as database, database.write() as connection:
        return Workspace.model_validate(values_of(await change_status(connection, slug, status)))
