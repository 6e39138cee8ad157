"""Lists of workspaces: filtered, sorted, and read by page and by cursor."""

from datetime import timedelta
from uuid import UUID

from storage.clock import now
from storage.rows.rows import table_of, update_rows
from storage.tables.workspaces.workspaces import WorkspaceRow
from tests.support.tenants.membership import new_slug


async def test_lists_are_filtered_by_slug_and_by_part_of_the_name(owner, tenant):
    for name in ("Grünwald", "Blau"):
        await owner.create_workspace(data={"name": name, "slug": new_slug()})

    async def names(**filters):
        return [item["name"] for item in (await owner.list_workspaces(**filters))["data"]]

    assert await names() == ["Acme", "Grünwald", "Blau"]
    assert await names(name="ÜNW") == ["Grünwald"]
    assert await names(name="%") == []
    assert await names(slug=tenant.slug.upper()) == ["Acme"]
    assert await names(slug=tenant.slug[:-1]) == []
    assert await names(sorting=["-name"]) == ["Grünwald", "Blau", "Acme"]
    assert await names(sorting=["name"]) == ["Acme", "Blau", "Grünwald"]


async def test_lists_are_sorted_by_what_operators_set(owner, gateway, tenant):
    values = {"Never": (None, 1), "High": (900, 30), "Low": (100, 2)}
    workspaces = table_of(WorkspaceRow)
    for name, (threshold, days) in values.items():
        made = await owner.create_workspace(data={"name": name, "slug": new_slug()})
        async with gateway.database.write() as connection:
            await update_rows(
                connection,
                WorkspaceRow,
                workspaces.c.id == UUID(made["id"]),
                next_review_threshold=threshold,
                status_changed_at=now() - timedelta(days=days),
            )

    async def names(*sorting):
        found, cursor = [], None
        while True:
            page = await owner.list_workspaces(sorting=list(sorting), limit=2, after=cursor)
            found += [item["name"] for item in page["data"]]
            cursor = page["meta"]["next_cursor"]
            if cursor is None:
                return found

    assert await names("days_in_status") == ["Acme", "Never", "Low", "High"]
    assert await names("-days_in_status") == ["High", "Low", "Never", "Acme"]
    assert await names("next_review_threshold", "days_in_status") == ["Low", "High", "Acme", "Never"]
    assert await names("-next_review_threshold", "-days_in_status") == ["High", "Low", "Never", "Acme"]


async def test_rests_list_leaves_out_the_status_and_the_default_currency(surface, tenant):
    (item,) = (await surface.list_workspaces())["data"]
    whole = await surface.get_workspace(id=tenant.id)
    left_out = {"status", "default_presentment_currency"} if surface.name == "rest" else set()
    assert item == {name: value for name, value in whole.items() if name not in left_out}


async def test_graphql_finds_a_workspace_by_its_slug_too(graphql, tenant):
    async def ask(arguments):
        return await graphql(f"{{ workspace{arguments} {{ id }} }}")

    assert (await ask(f'(slug: "{tenant.slug.upper()}")'))["data"]["workspace"]["id"] == tenant.id
    absent = await ask('(slug: "nobody-has-this")')
    assert absent["data"]["workspace"] is None
    assert absent["errors"][0]["extensions"]["code"] == "not_found"
    for arguments in ("", f'(id: "{tenant.id}", slug: "{tenant.slug}")'):
        (error,) = (await ask(arguments))["errors"]
        assert error["extensions"]["code"] == "invalid"
        assert error["extensions"]["detail"][0]["type"] == "one_of"
