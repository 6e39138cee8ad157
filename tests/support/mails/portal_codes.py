"""Portal codes as callers ask for them and use them, for the tests."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
from sqlalchemy import select

from storage.rows.rows import table_of, update_rows
from storage.tables.customers.portal_codes import PortalCodeRow
from tests.support.callers.refusals import refused
from tests.support.callers.surfaces import Surface
from tests.support.mails.mailed import Received, latest_code, mails_to
from tests.support.servers.gateways import Gateway, Tenant

_codes = table_of(PortalCodeRow)


async def request(anyone: Any, tenant: Tenant, email: str) -> Any:
    return await anyone.request_portal_code(data={"email": email, "slug": tenant.slug})


async def authenticate(anyone: Any, tenant: Tenant, email: str, code: str, **choice: str) -> Any:
    data = {"email": email, "slug": tenant.slug, "code": code, **choice}
    return await anyone.authenticate_portal_code(data=data)


async def refused_code(anyone: Any, tenant: Tenant, email: str, code: str) -> Any:
    return (await refused(authenticate(anyone, tenant, email, code), 401, "invalid_code")).detail


@dataclass(frozen=True)
class Entrance:
    """The way into a workspace's portal for anyone who has a customer's address, over one surface."""

    anyone: Surface
    gateway: Gateway
    tenant: Tenant

    async def request(self, email: str) -> None:
        await request(self.anyone, self.tenant, email)

    async def latest(self, email: str) -> str:
        return await latest_code(self.gateway, email)

    async def code(self, email: str) -> str:
        """Have a code mailed, and read it."""
        await self.request(email)
        return await self.latest(email)

    async def enter(self, email: str, code: str | None = None, **choice: str) -> Any:
        """The answer to the code, or to a new one; the choice is that of a customer."""
        entered = code or await self.code(email)
        return await authenticate(self.anyone, self.tenant, email, entered, **choice)

    async def portal(self, email: str) -> Surface:
        """The surface for the one who has come in by this address."""
        return self.anyone.with_token((await self.enter(email))["token"])

    async def mails(self, email: str) -> list[Received]:
        return await mails_to(self.gateway, email)

    @asynccontextmanager
    async def elsewhere(self) -> AsyncIterator["Entrance"]:
        """The same way from another network address."""
        async with elsewhere(self.gateway, self.anyone) as stranger:
            yield replace(self, anyone=stranger)

    async def refuse(self, email: str, code: str) -> Any:
        """What is said of a code that must not count."""
        return await refused_code(self.anyone, self.tenant, email, code)


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
