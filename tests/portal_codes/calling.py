"""Portal codes as callers ask for them and use them, for the tests."""

from uuid import UUID

import pytest

from storage.rows import table_of, update_rows
from storage.tables.portal_codes import PortalCodeRow
from tests.surfaces import Refused

_codes = table_of(PortalCodeRow)


async def request(anyone, tenant, email):
    return await anyone.request_portal_code(data={"email": email, "slug": tenant.slug})


async def authenticate(anyone, tenant, email, code):
    return await anyone.authenticate_portal_code(data={"email": email, "slug": tenant.slug, "code": code})


async def refused_code(anyone, tenant, email, code):
    with pytest.raises(Refused) as refused:
        await authenticate(anyone, tenant, email, code)
    assert (refused.value.status, refused.value.code) == (401, "invalid_code")
    return refused.value.detail


async def change_codes(gateway, tenant, **values):
    async with gateway.database.write() as connection:
        await update_rows(connection, PortalCodeRow, _codes.c.workspace_id == UUID(tenant.id), **values)


def another(code):
    return ("2" if code[0] != "2" else "3") + code[1:]
