"""Rows as large as the contract allows, or as it allowed once: what the answers with them must not become."""

from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from storage.engine.database import Database
from storage.rows.rows import insert_rows
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.file_share_sessions import (
    FileSharePaymentRow,
    FileShareRefundRow,
    FileShareSessionRow,
)
from storage.tables.shares.shares import ShareCustomFieldRow, ShareRow
from tests.support.servers.gateways import Gateway, Tenant

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


async def fill(database_url: str, tenant: Tenant) -> None:
    """Give the workspace rows of each kind that are as large as the contract allows."""
    database = Database(database_url)
    gateway = Gateway(None, None, database, Path())  # type: ignore[arg-type]  # only its database is used
    workspace_id = UUID(tenant.id)
    metadata = {f"key-{number}": "v" * 500 for number in range(50)}
    # Half of them with letters that have two bytes in JSON, half with one that has four.
    share_ids = await insert_shares(gateway, tenant, 50, '"' * LONGEST_DESCRIPTION)
    share_ids += await insert_shares(
        gateway, tenant, 50, "x" * (LONGEST_DESCRIPTION - 1) + "\N{GRINNING FACE}"
    )
    await attach_fields(gateway, tenant, share_ids[:20], 20, 16_000)
    async with database.write() as connection:
        customers = await insert_rows(
            connection,
            CustomerRow,
            [
                {
                    "workspace_id": workspace_id,
                    "email": f"{uuid4().hex}@example.com",
                    "type": "team",
                    "metadata": metadata,
                }
                for _ in range(100)
            ],
        )
        sessions = await insert_rows(
            connection,
            FileShareSessionRow,
            [
                {
                    "workspace_id": workspace_id,
                    "customer_id": customer.id,
                    "share_id": share_ids[number],
                    "file_size_bytes": 1,
                }
                for number, customer in enumerate(customers)
            ],
        )
        payments = await insert_rows(
            connection,
            FileSharePaymentRow,
            [
                {
                    "workspace_id": workspace_id,
                    "file_share_session_id": sessions[number % 10].id,
                    "amount": 100,
                    "currency": "usd",
                    "at": sessions[0].created_at,
                }
                for number in range(200)
            ],
        )
        await insert_rows(
            connection,
            FileShareRefundRow,
            [
                {
                    "workspace_id": workspace_id,
                    "file_share_session_id": payment.file_share_session_id,
                    "file_share_payment_id": payment.id,
                    "amount": 1,
                    "currency": "usd",
                    "at": payment.at,
                }
                for payment in payments[:100]
                for _ in range(100)
            ],
        )
    for customer in customers[:5]:
        own = {"workspace_id": tenant.id, "id": str(customer.id)}
        await insert_members(gateway, own, 1_000)
    await database.close()
