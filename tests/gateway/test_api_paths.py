"""Addresses of a workspace's pages may begin like the API's: `/api-shop/portal` is a page."""

from uuid import uuid4

import pytest

from tests.support.servers.gateways import Gateway, make_tenant


@pytest.fixture(params=["api", "graphql"])
async def page(request: pytest.FixtureRequest, gateway: Gateway) -> str:
    """The portal of a workspace whose slug begins like the path of a surface."""
    slug = f"{request.param}-{uuid4().hex}"
    await make_tenant(gateway, slug=slug)
    return f"/{slug}/portal"


async def test_a_page_whose_address_begins_like_the_api_is_served_as_a_page(
    gateway: Gateway, page: str
) -> None:
    for headers in ({}, {"Authorization": "Bearer garbage"}):
        answer = await gateway.client.get(page, headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["vary"] == "Accept-Language, Cookie"


async def test_a_failure_on_such_a_page_does_not_have_the_form_of_graphql(
    gateway: Gateway, page: str
) -> None:
    answer = await gateway.client.post(page, headers={"Idempotency-Key": "not a key"})
    assert answer.status_code == 422
    assert answer.json()["error"] == "invalid"


@pytest.mark.parametrize("path", ["/api", "/api/shares/", "/graphql"])
async def test_the_apis_own_paths_take_a_bearer_token(gateway: Gateway, path: str) -> None:
    answer = await gateway.client.get(path, headers={"Authorization": "Bearer garbage"})
    assert answer.status_code == 401
