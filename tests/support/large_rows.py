"""Rows as large as the contract allows, or as it allowed once: what the answers with them must not become."""

from typing import Any
from uuid import UUID, uuid4

from storage.rows.rows import insert_rows
from storage.tables.customers.customers import MemberRow
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.shares import ShareCustomFieldRow, ShareRow
from tests.support.gateways import Gateway, Tenant

LONGEST_DESCRIPTION = 65_536


async def insert_shares(gateway: Gateway, tenant: Tenant, count: int, description: str) -> list[UUID]:
    """Shares of the workspace with this description."""
    rows = [
        {"workspace_id": UUID(tenant.id), "name": f"Share {number}", "description": description}
        for number in range(count)
    ]
    async with gateway.database.write() as connection:
        return [row.id for row in await insert_rows(connection, ShareRow, rows)]


async def attach_fields(
    gateway: Gateway, tenant: Tenant, share_ids: list[UUID], count: int, size: int
) -> None:
    """Custom fields whose properties have so many bytes, each attached to each of these shares."""
    workspace_id = UUID(tenant.id)
    rows = [
        {
            "workspace_id": workspace_id,
            "type": "text",
            "slug": f"field-{number}",
            "name": f"Field {number}",
            "properties": {"form_label": "x" * size},
        }
        for number in range(count)
    ]
    async with gateway.database.write() as connection:
        fields = await insert_rows(connection, CustomFieldRow, rows)
        attached: list[dict[str, Any]] = [
            {
                "workspace_id": workspace_id,
                "share_id": share_id,
                "custom_field_id": field.id,
                "position": position,
                "required": False,
            }
            for share_id in share_ids
            for position, field in enumerate(fields)
        ]
        await insert_rows(connection, ShareCustomFieldRow, attached)


async def insert_members(gateway: Gateway, customer: dict[str, Any], count: int) -> None:
    """So many more members of a team."""
    rows = [
        {
            "workspace_id": UUID(customer["workspace_id"]),
            "customer_id": UUID(customer["id"]),
            "email": f"{uuid4().hex}@example.com",
            "name": "x" * 200,
            "role": "member",
        }
        for _ in range(count)
    ]
    async with gateway.database.write() as connection:
        await insert_rows(connection, MemberRow, rows)
