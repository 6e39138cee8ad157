"""Webhook endpoints: what a workspace is told, where, and by which secrets it is signed."""

import re
from base64 import b64decode
from datetime import timedelta

import pytest
from sqlalchemy import select

from oauth.scopes import Scope
from resolvers.webhooks.endpoints import MOST_ENDPOINTS
from storage.rows.rows import table_of
from storage.sealing import Purpose, unseal
from storage.tables.webhooks.endpoints import WebhookSecretRow
from tests.support.callers import world
from tests.support.callers.refusals import refusal, refused
from tests.support.measures.spans import span
from tests.support.servers.gateways import make_tenant, make_token

WEBHOOK = world.WEBHOOK | {"is_enabled": True}
_secrets = table_of(WebhookSecretRow)


async def secrets_of(gateway, endpoint):
    """The rows of the endpoint's secrets, oldest first."""
    own = str(endpoint["workspace_id"]), str(endpoint["id"])
    async with gateway.database.read() as connection:
        rows = await connection.execute(select(_secrets).order_by(_secrets.c.created_at))
        return [row for row in rows if (str(row.workspace_id), str(row.endpoint_id)) == own]


async def test_an_endpoint_is_created_read_listed_changed_and_deleted(surface, tenant):
    made = await surface.create_webhook_endpoint(
        data=WEBHOOK | {"description": "Books", "kinds": ["share.created", "customer.created"]}
    )
    endpoint = made["webhook_endpoint"]
    assert endpoint["kinds"] == ["share.created", "customer.created"]
    assert endpoint["workspace_id"] == tenant.id
    assert endpoint["is_enabled"] is True
    assert endpoint["disabled_reason"] is None
    assert "shares:read" in endpoint["scopes"]
    assert await surface.get_webhook_endpoint(id=endpoint["id"]) == endpoint
    assert (await surface.list_webhook_endpoints())["data"] == [endpoint]
    changed = await surface.update_webhook_endpoint(
        id=endpoint["id"], data={"description": None, "kinds": ["*"], "is_enabled": False}
    )
    assert (changed["description"], changed["kinds"], changed["is_enabled"]) == (None, ["*"], False)
    await surface.delete_webhook_endpoint(id=endpoint["id"])
    await refused(surface.get_webhook_endpoint(id=endpoint["id"]), 404, "not_found")


async def test_a_secret_is_shown_once_and_kept_sealed(gateway, surface):
    made = await surface.create_webhook_endpoint(data=WEBHOOK)
    endpoint, secret = made["webhook_endpoint"], made["secret"]
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/=]{44}", secret)
    assert "secret" not in await surface.get_webhook_endpoint(id=endpoint["id"])
    (row,) = await secrets_of(gateway, endpoint)
    assert secret.removeprefix("whsec_") not in row.sealed
    key = gateway.app.state.services.secret_key
    opened = unseal(key, Purpose.WEBHOOK_SECRET, row.sealed, str(row.id))
    assert opened == b64decode(secret.removeprefix("whsec_"))


async def test_a_replaced_secret_signs_for_24_hours_more(gateway, surface):
    made = await surface.create_webhook_endpoint(data=WEBHOOK)
    endpoint = made["webhook_endpoint"]
    with span() as rotating:
        rotated = await surface.rotate_webhook_endpoint_secret(id=endpoint["id"])
    assert rotated["secret"] != made["secret"]
    assert rotated["webhook_endpoint"] == endpoint
    old, new = await secrets_of(gateway, endpoint)
    assert old.ends_at in rotating + timedelta(hours=24)
    assert new.ends_at is None
    await surface.rotate_webhook_endpoint_secret(id=endpoint["id"])
    assert (await secrets_of(gateway, endpoint))[0].ends_at == old.ends_at


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com", "https://", "example.com", "https://a:b@example.com"),
        *(
            "https://example.com/#part",
            "https://example.com/a b",
            "https://exa\nmple.com",
            "http://10.0.0.1/",
        ),
        *(
            "http://localhost.example.com",
            "http://0.0.0.0/",
            "http://2130706433/",
            "https://example.com:99999",
        ),
        *("https://[::1", "https://example.com:0/", "javascript:alert(1)", "https://example.com\\@127.0.0.1"),
    ],
)
async def test_a_url_is_https_or_http_to_the_machine_itself(surface, url):
    problems = await refusal(surface.create_webhook_endpoint(data=WEBHOOK | {"url": url}))
    assert problems.keys() == {("url",)}


@pytest.mark.parametrize("url", ["http://127.0.0.1:8000/a?b=c", "http://[::1]/", "http://localhost:3000"])
async def test_in_development_a_url_may_be_http_on_loopback(gateway, surface, url):
    made = await surface.create_webhook_endpoint(data=WEBHOOK | {"url": url})
    assert made["webhook_endpoint"]["url"] == url
    services = gateway.app.state.services
    object.__setattr__(services, "is_production", True)
    try:
        problems = await refusal(surface.create_webhook_endpoint(data=WEBHOOK | {"url": url}))
    finally:
        object.__setattr__(services, "is_production", False)
    assert problems.keys() == {("url",)}


@pytest.mark.parametrize("kinds", [[], ["share.exploded"], ["*", "share.created"]])
async def test_kinds_are_those_of_the_log_or_all(surface, kinds):
    problems = await refusal(surface.create_webhook_endpoint(data=WEBHOOK | {"kinds": kinds}))
    assert {place[0] for place in problems} == {"kinds"}


async def test_a_repeated_kind_is_kept_once(surface):
    kinds = ["customer.created", "share.created", "customer.created"]
    made = await surface.create_webhook_endpoint(data=WEBHOOK | {"kinds": kinds})
    assert made["webhook_endpoint"]["kinds"] == ["share.created", "customer.created"]


async def test_an_endpoint_reaches_what_its_creator_reads(gateway, surface, tenant):
    narrow = surface.with_token(await make_token(gateway, tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_WRITE))
    made = await narrow.create_webhook_endpoint(data=WEBHOOK | {"kinds": ["*"]})
    assert made["webhook_endpoint"]["scopes"] == ["shares:read"]
    problems = await refusal(
        narrow.create_webhook_endpoint(data=WEBHOOK | {"kinds": ["share.created", "customer.created"]})
    )
    assert problems == {("kinds",): "wider"}
    blind = surface.with_token(await make_token(gateway, tenant, Scope.WEBHOOKS_WRITE))
    problems = await refusal(blind.create_webhook_endpoint(data=WEBHOOK | {"kinds": ["*"]}))
    assert problems == {("kinds",): "wider"}


async def test_a_narrower_credential_cannot_turn_an_endpoint_to_itself(gateway, surface, tenant):
    endpoint = (await surface.create_webhook_endpoint(data=WEBHOOK))["webhook_endpoint"]
    narrow = surface.with_token(await make_token(gateway, tenant, Scope.WEBHOOKS_WRITE, Scope.SHARES_READ))
    changing = narrow.update_webhook_endpoint(id=endpoint["id"], data={"url": "https://evil.example.com"})
    await refused(changing, 422, "invalid")
    await refused(narrow.rotate_webhook_endpoint_secret(id=endpoint["id"]), 422, "invalid")
    assert await narrow.get_webhook_endpoint(id=endpoint["id"]) == endpoint


async def test_a_workspace_has_at_most_20(surface):
    for _ in range(MOST_ENDPOINTS):
        last = await surface.create_webhook_endpoint(data=WEBHOOK)
    await refused(surface.create_webhook_endpoint(data=WEBHOOK), 403, "not_permitted")
    await surface.delete_webhook_endpoint(id=last["webhook_endpoint"]["id"])
    await surface.create_webhook_endpoint(data=WEBHOOK)


async def test_another_workspace_sees_and_changes_none(gateway, surface):
    endpoint = (await surface.create_webhook_endpoint(data=WEBHOOK))["webhook_endpoint"]
    other = surface.with_token((await make_tenant(gateway)).token)
    assert (await other.list_webhook_endpoints())["data"] == []
    for call in (
        other.get_webhook_endpoint(id=endpoint["id"]),
        other.update_webhook_endpoint(id=endpoint["id"], data={"is_enabled": False}),
        other.rotate_webhook_endpoint_secret(id=endpoint["id"]),
        other.delete_webhook_endpoint(id=endpoint["id"]),
    ):
        await refused(call, 404, "not_found")
