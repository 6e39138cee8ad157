"""File-share sessions: how they begin, which customer they belong to, and how they are found again."""

from datetime import datetime

import pytest

from storage.clock import now
from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused
from tests.support.statements.statements import noted
from tests.support.tenants.file_shares import COLUMNS, FREE, PRICED, START, at, facts_of


async def test_a_session_begins_without_downloads_and_is_given_back_as_sent(surface, tenant, share):
    customer = await surface.create_customer(data={"email": "ada@example.com", "external_id": "c-1"})
    data = PRICED | {"external_id": "s-1", "share_id": share["id"], "external_customer_id": "c-1"}
    session = await surface.create_file_share_session(data=data)
    assert session == {
        **data,
        "id": session["id"],
        "modified_at": None,
        "workspace_id": tenant.id,
        "customer_id": customer["id"],
        "status": "created",
        "download_count": 0,
        "first_download_at": None,
        "ended_at": None,
    }
    assert await surface.get_file_share_session(id=session["id"]) == session


async def test_a_session_without_a_moment_begins_now(surface):
    before = now()
    session = await surface.create_file_share_session(data={"file_size_bytes": 0})
    assert before <= datetime.fromisoformat(session["created_at"]) <= now()
    assert [session[name] for name in ("share_id", "customer_id", "price_amount", "price_currency")] == [
        None
    ] * 4


async def test_a_price_without_a_currency_is_in_the_workspaces(surface, tenant):
    await surface.update_workspace(id=tenant.id, data={"default_presentment_currency": "sek"})
    priced = await surface.create_file_share_session(data=FREE | {"price_amount": 1})
    free = await surface.create_file_share_session(data=FREE | {"price_amount": 0})
    assert [session["price_currency"] for session in (priced, free)] == ["sek", None]


async def test_a_session_without_a_price_is_free_even_if_its_share_has_one(surface):
    prices = [{"amount_type": "fixed", "price_amount": 700}]
    share = await surface.create_share(data={"name": "Report", "prices": prices})
    session = await surface.create_file_share_session(data=FREE | {"share_id": share["id"]})
    assert (session["price_amount"], session["price_currency"]) == (None, None)
    completed = await surface.complete_file_share_session(id=session["id"], data={})
    assert completed["status"] == "completed"


async def test_the_customer_of_a_session_is_looked_up_by_an_index(surface, gateway):
    customer = await surface.create_customer(data={"email": "ada@example.com", "external_id": "c-1"})
    with noted(gateway.database) as statements:
        for named in ("customer_id",), ("external_customer_id",), ("customer_id", "external_customer_id"):
            ids = {"customer_id": customer["id"], "external_customer_id": "c-1"}
            data = FREE | {name: ids[name] for name in named}
            session = await surface.create_file_share_session(data=data)
            assert [session[name] for name in ids] == list(ids.values())
    looked_up = {each for each in statements if "FROM customers" in each}
    assert looked_up
    if not gateway.database.is_sqlite:
        # PostgreSQL's plan is that of the number of rows.
        return
    async with gateway.database.read() as connection:
        for statement in looked_up:
            values = (None,) * statement.count("?")
            plan = (await connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)).all()
            assert any("AND id=?" in step.detail or "AND external_id=?" in step.detail for step in plan), plan


async def test_a_person_without_a_customer_keeps_the_callers_id(surface, gateway, tenant):
    data = FREE | {"external_customer_id": "visitor"}
    first, second = [await surface.create_file_share_session(data=data) for _ in range(2)]
    assert (first["customer_id"], first["external_customer_id"]) == (None, "visitor")
    other = await surface.create_file_share_session(data=FREE | {"external_customer_id": "another"})
    assert len({session["id"] for session in (first, second, other)}) == 3
    persons = {fact[COLUMNS.index("person")] for fact in await facts_of(gateway, tenant)}
    assert len(persons) == 2
    assert None not in persons


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        ({}, {("file_size_bytes",): "missing"}),
        ({"file_size_bytes": -1}, {("file_size_bytes",): "greater_than_equal"}),
        ({"file_size_bytes": 2**53}, {("file_size_bytes",): "less_than_equal"}),
        (FREE | {"price_amount": 100_000_000}, {("price_amount",): "less_than_equal"}),
        (FREE | {"price_amount": -1}, {("price_amount",): "greater_than_equal"}),
        (FREE | {"external_id": ""}, {("external_id",): "string_too_short"}),
        (FREE | {"external_id": "x" * 257}, {("external_id",): "string_too_long"}),
        (FREE | {"created_at": "2026-01-31T09:00:00"}, {("created_at",): "timezone_aware"}),
        (FREE | {"colour": "red"}, {("colour",): "extra_forbidden"}),
        (
            FREE | {"share_id": UNKNOWN_ID, "customer_id": UNKNOWN_ID},
            {("share_id",): "not_found", ("customer_id",): "not_found"},
        ),
    ],
)
async def test_what_is_wrong_with_a_session_is_named_at_its_place(surface, data, problems):
    assert await refusal(surface.create_file_share_session(data=data)) == problems


async def test_two_ids_of_two_people_are_refused_and_of_one_taken(surface):
    one, other = [
        await surface.create_customer(data={"email": f"{n}@example.com", "external_id": f"c-{n}"})
        for n in range(2)
    ]
    both = FREE | {"customer_id": one["id"], "external_customer_id": "c-0"}
    assert (await surface.create_file_share_session(data=both))["customer_id"] == one["id"]
    crossed = FREE | {"customer_id": other["id"], "external_customer_id": "c-0"}
    problems = await refusal(surface.create_file_share_session(data=crossed))
    assert problems == {("external_customer_id",): "conflict"}


async def test_a_deleted_customer_has_no_new_sessions(surface):
    customer = await surface.create_customer(data={"email": "ada@example.com", "external_id": "c-1"})
    await surface.delete_customer(id=customer["id"])
    named = FREE | {"customer_id": customer["id"]}
    assert await refusal(surface.create_file_share_session(data=named)) == {("customer_id",): "not_found"}
    freed = await surface.create_file_share_session(data=FREE | {"external_customer_id": "c-1"})
    assert freed["customer_id"] is None


async def test_an_archived_share_is_given_away_or_history_but_not_sold(surface, share):
    await surface.delete_share(id=share["id"])
    live = {"file_size_bytes": 7, "share_id": share["id"]}
    sold = surface.create_file_share_session(data=live | {"price_amount": 1})
    assert await refusal(sold) == {("share_id",): "archived"}
    for taken in (live, live | {"price_amount": 0}, live | {"price_amount": 1, "created_at": START}):
        assert (await surface.create_file_share_session(data=taken))["share_id"] == share["id"]


async def test_a_repeat_of_a_session_changes_nothing_even_if_it_differs(surface, gateway, tenant):
    session = await surface.create_file_share_session(data=FREE | {"external_id": "s-1"})
    active = await surface.record_download(id=session["id"], data={"at": at(5)})
    facts = await facts_of(gateway, tenant)
    other = {"file_size_bytes": 1, "external_id": "s-1", "price_amount": 5, "share_id": UNKNOWN_ID}
    assert await surface.create_file_share_session(data=other) == active
    assert await facts_of(gateway, tenant) == facts


async def test_external_ids_are_each_workspaces_own(surface, other_tenant):
    data = FREE | {"external_id": "s-1"}
    ours = await surface.create_file_share_session(data=data)
    theirs = await surface.with_token(other_tenant.token).create_file_share_session(data=data)
    assert ours["id"] != theirs["id"]


async def test_over_rest_what_is_new_is_201_and_a_repeat_or_an_end_200(gateway, tenant):
    async def post(path, body):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        answer = await gateway.client.post(f"/api/file-share-sessions{path}", json=body, headers=headers)
        return answer.status_code, answer.json()

    made, session = await post("/", FREE | {"external_id": "s-1"})
    again, same = await post("", {"file_size_bytes": 1, "external_id": "s-1"})
    assert (made, again, same) == (201, 200, session)
    download = {"external_id": "d-1", "at": at(5)}
    assert [(await post(f"/{session['id']}/downloads", download))[0] for _ in range(2)] == [201, 200]
    assert (await post(f"/{session['id']}/complete", {}))[0] == 200
    _, other = await post("/", FREE)
    assert (await post(f"/{other['id']}/expire", {}))[0] == 200


async def test_sessions_are_listed_newest_first_and_filtered(surface, other_tenant, history, share):
    async def ids(**filters):
        return [item["id"] for item in (await surface.list_file_share_sessions(**filters))["data"]]

    newest_first = [session["id"] for session in reversed(history)]
    assert await ids() == newest_first
    assert await ids(sorting=["created_at"]) == newest_first[::-1]
    assert await ids(share_id=[share["id"], UNKNOWN_ID]) == [history[1]["id"]]
    assert await ids(customer_id=[history[2]["customer_id"]]) == [history[2]["id"]]
    assert await ids(status=["expired", "completed"]) == [history[3]["id"]]
    assert await ids(status=["created"], share_id=[UNKNOWN_ID]) == []
    assert await ids(workspace_id=[history[0]["workspace_id"]]) == newest_first
    await refused(ids(workspace_id=[other_tenant.id]), 404, "not_found")
    page = await surface.list_file_share_sessions(limit=3)
    assert page["meta"]["total"] == 5
    rest = await surface.list_file_share_sessions(limit=3, after=page["meta"]["next_cursor"])
    assert [item["id"] for item in page["data"] + rest["data"]] == newest_first
