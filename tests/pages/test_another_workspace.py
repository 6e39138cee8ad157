"""Pages of one workspace know nothing of another one's records, though the user is a member of both."""

import pytest

from tests.support.callers.examples import FREE
from tests.support.callers.world import TOLD_WEBHOOK, add_delivery
from tests.support.tenants.membership import new_slug
from tests.support.tenants.uploads import upload_file


@pytest.fixture
async def slug(api):
    """The slug of another workspace of the tenant's user."""
    return (await api.create_workspace(data={"name": "Other", "slug": new_slug()}))["slug"]


async def test_a_file_is_not_downloaded_there(owner, rest, tenant, slug):
    file = await upload_file(rest)
    assert (await owner.client.get(f"/{tenant.slug}/files/{file['id']}/download")).status_code == 303
    assert (await owner.open(f"/{slug}/files/{file['id']}/download")).status_code == 404
    assert "There is no such file." in owner.text


async def test_settings_are_not_opened_there(owner, api, rest, tenant, slug):
    home = {"workspace_id": tenant.id}
    endpoint = (await api.create_webhook_endpoint(data={**TOLD_WEBHOOK, **home}))["webhook_endpoint"]
    share = await rest.create_share(data={"name": "A report", "prices": FREE})
    delivery = await add_delivery(api, endpoint, share["id"])
    (member,) = (await api.list_workspace_members(workspace_id=[tenant.id]))["data"]
    for place in (
        f"members/{member['id']}/remove",
        f"webhooks/{endpoint['id']}",
        f"webhook-deliveries/{delivery}",
    ):
        assert (await owner.open(f"/workspaces/{tenant.slug}/{place}")).status_code == 200
        assert (await owner.open(f"/workspaces/{slug}/{place}")).status_code == 404, place
        assert "There is no such w" in owner.text
