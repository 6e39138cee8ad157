"""Totals are what a count of the rows gives, whatever changes, folds and rebuilds run at the same moment."""

import asyncio
import re
from datetime import UTC, datetime
from uuid import UUID

import pytest
from sqlalchemy import update

from storage.engine.before_commit import note_deltas, note_measured
from storage.rows.rows import insert_rows, table_of, update_rows
from storage.tables.events.event_counts import EventCountRow, EventDeltaRow
from storage.tables.events.event_names import EventNameRow
from storage.tables.registry import COUNTED_MODELS
from storage.tables.shares.shares import ShareRow
from storage.tables.workspaces.totals import ListTotalDeltaRow, ListTotalRow
from tests.support.databases.facts import fold_all, waiting
from tests.support.databases.ledgers import rebuild_totals, verify_totals
from tests.support.tenants.uploads import new_file
from tests.totals.histories import History

STEPS = 60


@pytest.fixture
def home(tenant):
    return UUID(tenant.id)


@pytest.fixture
def verified(gateway, home):
    """Recount the workspace: how many of its totals differ."""

    async def verify():
        return (await verify_totals(gateway.database, home)).differences

    return verify


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
async def test_after_every_step_of_a_random_history_the_totals_are_those_of_a_count(rest, verified, seed):
    history = History(rest, seed)
    for _ in range(STEPS):
        change = await history.step()
        assert await verified() == 0, change


async def test_changes_at_the_same_time_leave_nothing_uncounted(gateway, rest, home, verified):
    histories = [History(rest, seed) for seed in range(4)]
    for history in histories[1:]:
        history.ids = histories[0].ids

    async def run(history):
        for _ in range(20):
            await history.step()

    await asyncio.gather(*map(run, histories), rebuild_totals(gateway.database, home))
    assert await verified() == 0
    await fold_all(gateway, home)
    assert await verified() == 0


LISTS = [
    ("shares", {}),
    ("shares", {"is_archived": False}),
    ("shares", {"visibility": ["public", "draft"]}),
    ("shares", {"visibility": ["private"], "is_archived": True}),
    ("shares", {"query": "mi"}),
    ("custom_fields", {}),
    ("customers", {}),
    ("members", {}),
    ("members", {"customer_id": "customer"}),
    ("file_share_sessions", {}),
    ("file_share_sessions", {"share_id": "share"}),
    ("file_share_sessions", {"customer_id": "customer"}),
    ("file_share_sessions", {"status": ["created", "active"]}),
    ("file_share_sessions", {"status": ["created"], "share_id": "share"}),
    ("file_share_downloads", {}),
    ("file_share_downloads", {"share_id": "share"}),
    ("file_share_payments", {}),
    ("file_share_payments", {"customer_id": "customer"}),
    ("file_share_payments", {"currency": ["usd"]}),
    ("file_share_refunds", {}),
    ("file_share_refunds", {"currency": ["usd", "eur"]}),
    ("files", {}),
    ("files", {"service": "downloadable"}),
    ("files", {"name": "mix"}),
    ("events", {}),
    ("events", {"name": ["opened", "closed", "unknown"]}),
    ("events", {"customer_id": "customer"}),
    ("events", {"name": ["opened"], "customer_id": "customer"}),
    ("events", {"source": "user"}),
    ("event_names", {}),
    ("event_names", {"source": "user"}),
]


@pytest.fixture
async def ids(rest):
    """Two rows or more of everything that is listed, and the ids that lists are filtered by."""
    ids = {"share": [], "customer": []}
    price = {"amount_type": "free"}
    for visibility in ("public", "private", "draft"):
        share = await rest.create_share(data={"name": "Mix", "prices": [price], "visibility": visibility})
        ids["share"].append(share["id"])
    await rest.delete_share(id=ids["share"][1])
    for number in range(3):
        await rest.create_custom_field(data={"type": "text", "slug": f"f{number}", "name": "Size"})
        await rest.create_file(data=new_file())
        customer = await rest.create_customer(data={"email": f"{number}@example.com", "type": "team"})
        ids["customer"].append(customer["id"])
        about = {"share_id": ids["share"][number % 2 * 2], "customer_id": customer["id"]}
        await rest.create_member(data={"customer_id": customer["id"], "email": "bo@example.com"})
        await rest.create_file_share_session(data={**about, "file_size_bytes": 7})
        session = await rest.create_file_share_session(data={**about, "file_size_bytes": 7})
        await rest.record_download(id=session["id"], data={})
        for currency in ("usd", "eur"):
            payment = await rest.record_payment(id=session["id"], data={"amount": 2, "currency": currency})
            await rest.refund_payment(id=payment["id"], data={"amount": 1})
        events = [{"name": name, "customer_id": customer["id"]} for name in ("opened", "opened", "closed")]
        await rest.ingest_events(data={"events": events})
    await rest.complete_file_share_session(id=session["id"], data={})
    await rest.delete_customer(id=ids["customer"][0])
    return {name: some[:2] for name, some in ids.items()}


@pytest.mark.parametrize("holder", ["workspace", "user"])
async def test_the_total_of_a_list_is_the_number_of_its_rows(caller, tenant, other_tenant, ids, holder):
    elsewhere = caller(other_tenant.token)
    await elsewhere.create_share(data={"name": "Mix", "prices": [{"amount_type": "free"}]})
    surface = caller(tenant.token if holder == "workspace" else tenant.personal_token)
    wrong = []
    for noun, filters in LISTS:
        chosen = {
            name: ids.get(value, value) if isinstance(value, str) else value
            for name, value in filters.items()
        }
        narrowed = {} if noun == "members" else {"workspace_id": [tenant.id]}
        for also in ({}, narrowed):
            page = await getattr(surface, f"list_{noun}")(**chosen, **also, limit=100)
            if not page["meta"]["total"] == len(page["data"]) > 0:
                wrong.append((noun, filters, also, page["meta"]["total"], len(page["data"])))
    assert wrong == []


async def test_a_user_sees_the_total_of_all_workspaces_and_of_those_it_asks_for(
    gateway, caller, tenant, rest
):
    other = (
        await caller(tenant.personal_token).create_workspace(
            data={"name": "Two", "slug": f"two-{tenant.slug}"}
        )
    )["id"]
    user = caller(tenant.personal_token)
    for workspace_id in (tenant.id, tenant.id, other):
        data = {"name": "Mix", "prices": [{"amount_type": "free"}], "workspace_id": workspace_id}
        await user.create_share(data=data)
        await user.ingest_events(data={"workspace_id": workspace_id, "events": [{"name": "opened"}]})
    for ids, total in ((None, 3), ([tenant.id], 2), ([other], 1), ([tenant.id, other], 3)):
        chosen = {} if ids is None else {"workspace_id": ids}
        assert (await user.list_shares(**chosen))["meta"]["total"] == total
        names = await user.list_event_names(**chosen)
        assert [(name["name"], name["occurrences"]) for name in names["data"]] == [("opened", total)]


async def test_a_customer_sees_the_totals_of_its_own_rows(caller, rest, ids):
    customer_id = ids["customer"][1]
    session = await rest.create_customer_session(data={"customer_id": customer_id})
    portal = caller(session["token"])
    for list_of_portal in (
        portal.list_portal_shares,
        portal.list_portal_members,
        portal.list_portal_file_share_sessions,
    ):
        page = await list_of_portal(limit=100)
        assert page["meta"]["total"] == len(page["data"]) > 0
    assert (await portal.list_portal_shares())["meta"]["total"] == 1


async def test_names_of_events_are_kept_with_how_often_and_when_they_occurred(surface, gateway, home):
    days = {"opened": (3, 1, 2), "closed": (9,)}
    for name, numbers in days.items():
        for day in numbers:
            event = {"name": name, "timestamp": f"2026-01-0{day}T09:30:00Z"}
            await surface.ingest_events(data={"events": [event, event]})
    for _ in range(2):
        names = (await surface.list_event_names(sorting=["-occurrences"]))["data"]
        kept = [
            (row["name"], row["occurrences"], row["first_seen"][8:10], row["last_seen"][8:10])
            for row in names
        ]
        assert kept == [("opened", 6, "01", "03"), ("closed", 2, "09", "09")]
        await fold_all(gateway, home)


async def test_a_change_that_is_rolled_back_is_not_counted(gateway, home, verified):
    async def fail():
        async with gateway.database.write() as connection:
            await insert_rows(connection, ShareRow, [{"workspace_id": home, "name": "Mix"}])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await fail()
    assert await verify_totals(gateway.database, home) == (0, 0)


async def test_the_fold_moves_deltas_into_the_totals(gateway, rest, home, verified):
    history = History(rest, 1)
    for _ in range(20):
        await history.step()
    await fold_all(gateway, home)
    assert [await waiting(gateway, home, model) for model in (ListTotalDeltaRow, EventDeltaRow)] == [0, 0]
    assert await verified() == 0


async def test_wrong_totals_are_found_and_rebuilt(gateway, rest, home, verified):
    await rest.ingest_events(data={"events": [{"name": "opened"}]})
    await fold_all(gateway, home)
    lists, names, counts = table_of(ListTotalRow), table_of(EventNameRow), table_of(EventCountRow)
    async with gateway.database.write() as connection:
        of_all = (lists.c.workspace_id == home) & (lists.c.list == "events")
        await connection.execute(update(lists).where(of_all).values(total=7))
        own = names.c.workspace_id == home
        await connection.execute(update(names).where(own).values(last_seen=datetime(2026, 1, 1, tzinfo=UTC)))
        of_days = (counts.c.workspace_id == home) & (counts.c.period == "day") & (counts.c.name == "opened")
        await connection.execute(update(counts).where(of_days).values(occurrences=7))
    assert await verified() == 3
    # Of the list and its bytes, of the name, and of the day and the hour with this name and with any.
    assert await rebuild_totals(gateway.database, home) == 7
    assert await verified() == 0


def test_every_counted_column_exists():
    for model in COUNTED_MODELS:
        assert {name for group in model.counted for name in group} <= set(table_of(model).columns.keys())
        assert () in model.counted


async def test_counted_columns_change_only_where_the_rows_are_known(gateway, home):
    async with gateway.database.write() as connection:
        shares = table_of(ShareRow)
        for changes in ({"is_archived": True}, {"description": "Longer"}):
            with pytest.raises(
                TypeError, match=rf"counted by {re.escape(str([*changes]))}: update them one by"
            ):
                await update_rows(connection, ShareRow, shares.c.workspace_id == home, **changes)
    async with gateway.database.read() as connection:
        await connection.begin(writes=True, repeatable=False)
        with pytest.raises(RuntimeError, match=r"only inside `Database\.write`"):
            await insert_rows(connection, ShareRow, [{"workspace_id": home, "name": "Mix"}])
        # So do facts and persons.
        with pytest.raises(RuntimeError, match=r"only inside `Database\.write`"):
            note_measured(connection, home, 0)
        with pytest.raises(RuntimeError, match=r"only inside `Database\.write`"):
            note_deltas(connection, [home])
        await connection.rollback()
