"""Errors of GraphQL as people read them, and where they stand: at the field that failed."""

from uuid import uuid4

import pytest

from oauth.scopes import Scope
from resolvers.graph.execution.planned import fields
from resolvers.graph.execution.planned.fields import Reading
from schema.errors import NotFound
from tests.support.callers.surfaces import Rest
from tests.support.servers.gateways import make_token

ABSENT = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
async def home(gateway, tenant):
    """The workspace's token; it has two shares."""
    rest = Rest(gateway.client, gateway.app, tenant.token)
    for name in ("Atlas", "Bestiary"):
        prices = [{"amount_type": "fixed", "price_amount": 1500}]
        await rest.create_share(data={"name": name, "prices": prices})
    return tenant.token


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{ shares { data { nam } } }", "Cannot query field 'nam' on type 'Share'. Did you mean 'name'?"),
        ("{ shares {", "Syntax Error: Expected Name, found <EOF>."),
        ("{ shares(limit: 101) { data { id } } }", "`limit` should be less than or equal to 100"),
        ("query($id: ID!) { share(id: $id) { id } }", "`id` is required"),
        (f'{{ share(id: "{ABSENT}") {{ id }} }}', "There is no such share."),
        ("query A { __typename } query B { __typename }", "This document has several operations"),
        ('{ customer(id: "x") { id } }', "`id` should be a valid UUID"),
        ("{ customer { id } }", "Name the customer by either `id` or `externalId`"),
    ],
)
async def test_the_message_is_the_first_problems_own_sentence(graphql, document, message):
    (error,) = (await graphql(document))["errors"]
    assert message in error["message"]
    detail = error["extensions"]["detail"]
    assert error["message"] == (detail if isinstance(detail, str) else detail[0]["msg"])


@pytest.mark.parametrize(
    ("document", "loc", "message"),
    [
        (
            'mutation { createShare(data: {name: "Atlas", prices: [{amountType: FIXED}]}) { id } }',
            ["data", "prices", 0],
            "`prices.0`: A fixed price needs priceAmount",
        ),
        (
            'mutation { createShare(data: {name: "Atlas", prices: '
            "[{amountType: FIXED, priceAmount: 0}]}) { id } }",
            ["data", "prices", 0, "priceAmount"],
            "`prices.0.priceAmount` should be greater than or equal to 1",
        ),
        (
            '{ metrics(startDate: "2026-01-31", endDate: "2026-01-01", interval: DAY) { currency } }',
            ["endDate"],
            "`endDate` should not be before startDate, 2026-01-31",
        ),
        (
            '{ metrics(startDate: "2000-01-01", endDate: "2026-01-01", interval: HOUR) { currency } }',
            ["interval"],
            "`interval`: From startDate to endDate are more than 10000 periods of this interval, the limit",
        ),
        (
            f'mutation {{ createCustomerSession(data: {{customerId: "{ABSENT}", externalCustomerId: "x"}}) '
            "{ id } }",
            ["data", "customerId"],
            "`customerId`: Send customerId or externalCustomerId, not both",
        ),
        (
            "mutation { createMember(data: "
            f'{{customerId: "{ABSENT}", email: "a@example.com", externalId: ""}}) {{ id }} }}',
            ["data", "externalId"],
            "`externalId` should have at least 1 character",
        ),
    ],
)
async def test_names_are_spelled_as_graphql_spells_them(graphql, document, loc, message):
    (error,) = (await graphql(document))["errors"]
    (problem,) = error["extensions"]["detail"]
    assert (problem["loc"], problem["msg"]) == (loc, message)
    assert error["message"] == message


async def test_the_values_of_an_enum_are_spelled_as_graphql_spells_them(graphql):
    dates = 'startDate: "2026-01-01", endDate: "2026-01-31", interval: DAY'
    for document, variables in (
        (f"{{ metrics({dates}, metrics: [BOGUS]) {{ currency }} }}", {}),
        (f"query($m: [MetricSlug!]) {{ metrics({dates}, metrics: $m) {{ currency }} }}", {"m": ["BOGUS"]}),
    ):
        (error,) = (await graphql(document, **variables))["errors"]
        assert error["extensions"]["detail"][0]["loc"] == ["metrics", 0]
        assert "'COSTS'" in error["message"]
        assert "costs" not in error["message"]
    (error,) = (await graphql("{ shares(sorting: [NOTHING]) { data { id } } }"))["errors"]
    assert "'CREATED_AT', 'CREATED_AT_DESC'" in error["message"]


async def test_keys_that_callers_choose_keep_their_spelling(graphql):
    pairs = '[{key: "my_key", value: "x"}]'
    data = f'{{email: "a@example.com", metadata: {{my_key: {{deep: 1}}}}, externalId: "{uuid4()}"}}'
    for document in (
        f"mutation {{ createCustomer(data: {data}) {{ id }} }}",
        f"mutation {{ createCustomer(data: {{metadata: {pairs}}}) {{ id }} }}",
    ):
        errors = (await graphql(document))["errors"]
        assert errors
        assert all("myKey" not in str(error) for error in errors)


DATES = 'startDate: "2026-01-01", endDate: "2026-01-31", interval: DAY'


async def test_a_field_without_its_scope_is_null_and_its_siblings_answer(graphql, gateway, tenant, home):
    token = await make_token(gateway, tenant, Scope.SHARES_READ)
    document = f"{{ shares {{ meta {{ total }} }} m: metrics({DATES}) {{ currency }} }} # {uuid4()}"
    # By the stock executor, by a kept document and again.
    for _ in range(3):
        answer = await graphql(document, token)
        assert answer["data"] == {"shares": {"meta": {"total": 2}}, "m": None}
        (error,) = answer["errors"]
        assert error["path"] == ["m"]
        assert error["locations"] == [{"line": 1, "column": 29}]
        assert error["extensions"]["code"] == "insufficient_scope"
        assert error["message"] == "The credential needs the scope `metrics:read`."
    # Those who may see it get it from the plan.
    for _ in range(3):
        assert "errors" not in await graphql(document)


async def test_a_document_without_any_of_its_scopes_has_an_error_for_each_field(graphql, gateway, tenant):
    token = await make_token(gateway, tenant, Scope.FILES_READ)
    document = "{ shares { meta { total } } events { meta { total } } }"
    for _ in range(3):
        answer = await graphql(document, token)
        assert answer["data"] == {"shares": None, "events": None}
        assert sorted(error["path"] for error in answer["errors"]) == [["events"], ["shares"]]


async def test_a_link_without_its_scope_is_null_in_each_object(graphql, gateway, tenant, home):
    token = await make_token(gateway, tenant, Scope.SHARES_READ)
    answer = await graphql("{ shares { data { name workspace { name } } } }", token)
    assert [share["workspace"] for share in answer["data"]["shares"]["data"]] == [None, None]
    assert {share["name"] for share in answer["data"]["shares"]["data"]} == {"Atlas", "Bestiary"}
    assert [error["path"] for error in answer["errors"]] == [
        ["shares", "data", 0, "workspace"],
        ["shares", "data", 1, "workspace"],
    ]
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"insufficient_scope"}


async def test_mutations_beside_a_refused_one_are_made_in_order(graphql, gateway, tenant, home):
    token = await make_token(gateway, tenant, Scope.CUSTOMERS_WRITE)
    emails = [f"{uuid4().hex}@example.com" for _ in range(2)]
    made = [f'createCustomer(data: {{email: "{email}"}}) {{ email }}' for email in emails]
    refused = 'createShare(data: {name: "Refused", prices: [{amountType: FREE}]}) { id }'
    answer = await graphql(f"mutation {{ a: {made[0]} b: {refused} c: {made[1]} }}", token)
    assert answer["data"] == {"a": {"email": emails[0]}, "b": None, "c": {"email": emails[1]}}
    assert [(error["path"], error["extensions"]["status"]) for error in answer["errors"]] == [(["b"], 403)]
    shares = await graphql('{ shares(query: "Refused") { meta { total } } }', home)
    assert shares["data"]["shares"]["meta"]["total"] == 0


async def test_a_customer_is_refused_at_each_field_of_the_core(graphql, gateway, tenant, home):
    rest = Rest(gateway.client, gateway.app, tenant.token)
    customer = await rest.create_customer(data={"email": f"{uuid4().hex}@example.com"})
    session = await rest.create_customer_session(data={"customer_id": customer["id"]})
    document = "{ shares { data { id } } portal { customer { id } } viewer { kind } }"
    answer = await graphql(document, session["token"])
    assert answer["data"]["shares"] is None
    assert answer["data"]["portal"] == {"customer": {"id": customer["id"]}}
    (error,) = answer["errors"]
    assert (error["path"], error["extensions"]["code"]) == (["shares"], "not_permitted")


@pytest.mark.parametrize("is_long", [False, True])
async def test_a_change_is_answered_though_what_it_links_to_cannot_be_read(graphql, monkeypatch, is_long):
    """Also if so much was read before it that its bytes are counted: then it would be written as one text."""

    async def fail(*_):
        raise NotFound("It is gone.")

    monkeypatch.setattr(Reading, "answer", fail)
    monkeypatch.setattr(fields, "PARSED_AT_ONCE", -1 if is_long else fields.PARSED_AT_ONCE)
    email = f"{uuid4()}@example.com"
    document = (
        f'mutation {{ createCustomer(data: {{email: "{email}"}}) {{ email workspace {{ id }} type }} }}'
    )
    answer = await graphql(document)
    made = {"email": email, "workspace": None, "type": "INDIVIDUAL"}
    assert answer["data"] == {"createCustomer": made}
    (error,) = answer["errors"]
    assert error["path"] == ["createCustomer", "workspace"]
    assert error["extensions"]["code"] == "not_found"
