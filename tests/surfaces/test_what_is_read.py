"""What is read of the database for an answer: how much that may be, and by how many statements."""

import orjson
import pytest

from resolvers.operations.context import Caller
from resolvers.operations.limits.answer_size import MOST_READ, READ_FREELY, counted, dumped, read_lines
from schema.errors import LARGEST_ANSWER, AnswerTooLarge
from storage.dialects.json_rows import PARSED_AT_ONCE, SEPARATOR
from tests.support.callers.refusals import UNKNOWN_ID, refused
from tests.support.callers.surfaces import GraphQL, Rest
from tests.support.servers.gateways import bearer
from tests.support.statements.statements import noted
from tests.support.tenants.membership import join_too

LINE = orjson.dumps(["x" * 1024])
LONG = SEPARATOR.join([LINE] * (PARSED_AT_ONCE // len(LINE) + 1))


@pytest.fixture
def request_caller():
    """The caller of one request."""
    return Caller(None, None, "192.0.2.1", "request")


def test_long_lines_count_again_when_they_are_read_often(request_caller):
    lines = read_lines(request_caller, LONG)
    for _ in range(READ_FREELY):
        list(lines)
    assert request_caller.bytes_read == len(LONG)
    list(lines)
    # But for some bytes: what stands between lines was free, too.
    assert 1.9 * len(LONG) < request_caller.bytes_read < 2 * len(LONG)


def test_the_rows_of_one_request_have_a_bound_together(request_caller):
    for _ in range(MOST_READ // len(LONG)):
        read_lines(request_caller, LONG)
    with pytest.raises(AnswerTooLarge):
        read_lines(request_caller, LONG)


def test_an_answer_is_too_large_by_the_bytes_that_are_written(request_caller):
    """Not by those that were counted of its parts, which it may have more than once."""
    part = orjson.loads(counted(request_caller, "x" * (LARGEST_ANSWER // 4)))
    answer = {"data": {"a": [part] * 3}}
    assert dumped(request_caller, answer) == orjson.dumps(answer)
    with pytest.raises(AnswerTooLarge):
        dumped(request_caller, {"data": {"a": [part] * 4}})


SHARES = """
query($page: Int!) {
  shares(sorting: [NAME], limit: 2, page: $page) {
    data { name workspace { id } prices { amountType } }
    meta { total }
  }
}
"""
# Of shares alone, and of the first page unless one is asked for.
SHARES_ALONE = "query($page: Int) { shares(sorting: [NAME], limit: 2, page: $page) { data { name } } }"
NAMES = ["Amber", "Basalt", "Copper", "Diamond"]
ONE = "query($id: ID!) { share(id: $id) { name workspace { id } } }"


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
async def test_a_cluster_reads_what_belongs_to_rows_in_each_workspace_by_itself(
    gateway, tenant, other_tenant, monkeypatch
):
    """Any PostgreSQL reads so, too: the tests' own is only said to be a cluster."""
    await join_too(gateway, tenant, other_tenant)
    made = {}
    for name, owner in zip(NAMES, [tenant, other_tenant] * 2, strict=True):
        share = {"name": name, "prices": [{"amount_type": "free"}]}
        made[name] = (await Rest(gateway.client, gateway.app, owner.token).create_share(data=share))["id"]
    user = GraphQL(gateway.client, gateway.app, tenant.personal_token)

    async def ask(document, **variables):
        body = {"query": document, "variables": variables}
        headers = bearer(tenant.personal_token)
        with noted(gateway.database) as statements:
            answer = (await gateway.client.post("/graphql", json=body, headers=headers)).json()
        return answer, len([each for each in statements if "FROM shares" in each])

    requests = [(SHARES, {"page": 1}), (SHARES, {"page": 2}), (ONE, {"id": made["Basalt"]})]
    requests += [(SHARES_ALONE, {}), (SHARES_ALONE, {"page": 2})]
    together = [await ask(document, **values) for document, values in requests]
    monkeypatch.setattr(gateway.database, "is_cluster", True)
    parted = [await ask(document, **values) for document, values in requests]
    assert [answer for answer, _ in parted] == [answer for answer, _ in together]
    assert parted[1][0]["data"]["shares"]["data"][0] == {
        "name": "Copper",
        "workspace": {"id": tenant.id},
        "prices": [{"amountType": "FREE"}],
    }
    assert [many for _, many in together] == [1, 1, 1, 1, 1]
    # The keys of a page, then its rows in two workspaces; the workspace of a row, then the row. A first page
    # that needs no other rows is read at once, and a later one by its keys.
    assert [many for _, many in parted] == [3, 3, 2, 1, 3]
    await refused(user.get_share(id=UNKNOWN_ID), 404, "not_found")
    answer, _ = await ask(ONE, id=UNKNOWN_ID)
    assert answer["errors"][0]["extensions"]["code"] == "not_found"
