"""Messages of refused input: the sentence names its place, and what may have been meant."""

import pytest

from tests.support.callers.refusals import UNKNOWN_ID, refused
from tests.support.servers.gateways import bearer

SHARE = {"name": "Atlas", "prices": [{"amount_type": "free"}]}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/api/shares/?lim=1", "`lim` is not accepted; did you mean `limit`?"),
        ("/api/shares/?zzzzzzzzz=1", "`zzzzzzzzz` is not accepted"),
        ("/api/shares/?isArchived=true", "`isArchived` is not accepted; did you mean `is_archived`?"),
        (f"/api/shares/{UNKNOWN_ID}?ids=1", "`ids` is not accepted"),
        ("/api/shares/?" + "&".join(["id=x"] * 101), "`id` should have at most 100 items, not 101"),
        ("/api/shares/?page=x", "`page` should be a valid integer, unable to parse string as an integer"),
        ("/api/shares/?page=1&page=2", "`page` was sent 2 times: send it once"),
        ("/api/shares/x", "`id` should be a valid UUID, invalid character: found `x` at 0"),
        ("/api/customers/?metadata=1", "`metadata` is written as `metadata[key]=value`, once for each key"),
        (
            "/api/events/?start_timestamp=2026-01-01T00:00:00+02:00",
            "`start_timestamp` has a space where a + may have been: write `%2B` for a + in a URL",
        ),
    ],
)
async def test_rest_names_a_parameter(gateway, tenant, path, message):
    answer = (await gateway.client.get(path, headers=bearer(tenant.token))).json()
    assert [entry["msg"] for entry in answer["detail"]] == [message]


@pytest.mark.parametrize(
    ("body", "messages"),
    [
        ([], ["The body should be an object"]),
        ({**SHARE, "nme": "x"}, ["`nme` is not accepted; did you mean `name`?"]),
        (
            {**SHARE, "metadata": {str(key): 1 for key in range(51)}},
            ["`metadata` should have at most 50 pairs, not 51"],
        ),
        ({**SHARE, "prices": [[]]}, ["`prices.0` should be an object"]),
        (
            {"name": "", "prices": [{"amount_type": "fixed", "price_amount": 10**30}]},
            [
                "`name` should have at least 3 characters",
                "`prices.0.price_amount` should be less than or equal to 99999999",
            ],
        ),
    ],
)
async def test_rest_names_a_field_of_the_body(gateway, tenant, body, messages):
    answer = await gateway.client.post("/api/shares/", json=body, headers=bearer(tenant.token))
    assert [entry["msg"] for entry in answer.json()["detail"]] == messages


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("{ shares(lim: 1) { meta { total } } }", [("`lim` is not accepted; did you mean `limit`?", 10)]),
        (
            "{ shares(limit: 0, pag: 1) { meta { total } } }",
            [
                ("`limit` should be greater than or equal to 1", 17),
                ("`pag` is not accepted; did you mean `page`?", 20),
            ],
        ),
        (
            'mutation { createShare(data: {nme: "A", prices: [{amountType: FIXED, priceAmont: 1}]}) { id } }',
            [
                ("`name` is required", 30),
                ("`prices.0.priceAmont` is not accepted; did you mean `priceAmount`?", 70),
                ("`nme` is not accepted; did you mean `name`?", 31),
            ],
        ),
        (
            '{ shares(limit: "x") { data { nme } } share { id } }',
            [
                ("`limit` should be a valid integer, unable to parse string as an integer", 17),
                ("`id` is required", 39),
                ("Cannot query field 'nme' on type 'Share'. Did you mean 'name'?", 31),
            ],
        ),
    ],
)
async def test_graphql_has_an_error_with_its_place_for_each_problem(graphql, document, expected):
    # As it is sent first, and as it is when it is known.
    for _ in range(2):
        errors = (await graphql(document))["errors"]
        seen = [(error["message"], error["locations"][0]["column"]) for error in errors]
        assert sorted(seen) == sorted(expected)
        assert all(len(error["extensions"]["detail"]) == 1 for error in errors)


async def test_graphql_names_the_place_of_what_a_variable_holds(graphql):
    document = "query($page: Int, $lim: Int) { shares(page: $page, limit: $lim) { meta { total } } }"
    for _ in range(2):
        first, second = (await graphql(document, page="x", lim=0))["errors"]
        assert first["message"].startswith("`page` should be a valid integer")
        assert second["message"] == "`limit` should be greater than or equal to 1"
        assert [first["locations"][0]["column"], second["locations"][0]["column"]] == [45, 59]


async def test_a_bound_of_our_own_is_in_the_sentence(surface):
    event = {"name": "made", "external_customer_id": "c", "cost": {"amount": -1, "currency": "usd"}}
    failure = await refused(surface.ingest_events(data={"events": [event]}), 422, "invalid")
    (entry,) = failure.detail
    assert entry["loc"] == ["events", 0, "cost", "amount"]
    assert entry["msg"] == "`events.0.cost.amount` should be greater than or equal to 0"
