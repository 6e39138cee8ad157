"""Portal codes as callers ask for them and use them, for the tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import select

from storage.rows.rows import table_of, update_rows
from storage.tables.customers.portal_codes import PortalCodeRow
from tests.support.gateways import Gateway, Tenant
from tests.support.refusals import refused
from tests.support.surfaces import Surface

_codes = table_of(PortalCodeRow)


async def request(anyone: Any, tenant: Tenant, email: str) -> Any:
    return await anyone.request_portal_code(data={"email": email, "slug": tenant.slug})


async def authenticate(anyone: Any, tenant: Tenant, email: str, code: str) -> Any:
    return await anyone.authenticate_portal_code(data={"email": email, "slug": tenant.slug, "code": code})


async def refused_code(anyone: Any, tenant: Tenant, email: str, code: str) -> Any:
    return (await refused(authenticate(anyone, tenant, email, code), 401, "invalid_code")).detail


async def change_codes(gateway: Gateway, tenant: Tenant, **values: Any) -> None:
    async with gateway.database.write() as connection:
        await update_rows(connection, PortalCodeRow, _codes.c.workspace_id == UUID(tenant.id), **values)


async def let_grow(gateway: Gateway, tenant: Tenant) -> None:
    """Let the latest code be old enough to be replaced."""
    async with gateway.database.write() as connection:
        mine = _codes.c.workspace_id == UUID(tenant.id)
        rows = (await connection.execute(select(_codes.c.id, _codes.c.created_at).where(mine))).all()
        for row in rows:
            earlier = row.created_at - timedelta(minutes=2, seconds=1)
            await update_rows(connection, PortalCodeRow, mine & (_codes.c.id == row.id), created_at=earlier)


@asynccontextmanager
async def elsewhere(
    gateway: Gateway, anyone: Surface, address: str = "198.51.100.7"
) -> AsyncIterator[Surface]:
    """The same surface for a caller at another network address."""
    transport = httpx.ASGITransport(gateway.app, raise_app_exceptions=False, client=(address, 9))
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        yield type(anyone)(client, anyone.app)


def another(code: str) -> str:
    return ("2" if code[0] != "2" else "3") + code[1:]
