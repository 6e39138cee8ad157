"""How a customer is named: by our id or by the caller's, never by both or neither."""

import pytest

from rest_compat.openapi.document import openapi_document
from tests.support.callers.refusals import refused

ADA = {"email": "ada@example.com", "external_id": "c-1"}
BOTH = 'id: "00000000-0000-4000-8000-000000000000", externalId: "c-1"'


@pytest.fixture
def rest(gateway, tenant):
    async def send(method, path, **options):
        headers = {"Authorization": f"Bearer {tenant.token}", **options.pop("headers", {})}
        return await gateway.client.request(method, f"/api{path}", headers=headers, **options)

    return send


@pytest.mark.parametrize(
    "call",
    [
        "{ customer { id } }",
        f"{{ customer({BOTH}) {{ id }} }}",
        "mutation { updateCustomer(data: {}) { id } }",
        f"mutation {{ updateCustomer({BOTH}, data: {{}}) {{ id }} }}",
    ],
)
async def test_graphql_takes_exactly_one_of_the_two_ids(graphql, call):
    answer = await graphql(call)
    (error,) = answer["errors"]
    assert error["extensions"]["status"] == 422
    assert [(entry["loc"], entry["type"]) for entry in error["extensions"]["detail"]] == [(["id"], "one_of")]


async def test_each_rest_path_takes_its_own_id_only(rest, surface):
    customer = await surface.create_customer(data=ADA)
    for path, stray in (
        (f"/customers/{customer['id']}?external_id=c-1", "external_id"),
        (f"/customers/external/c-1?id={customer['id']}", "id"),
    ):
        for method, options in (("GET", {}), ("PATCH", {"json": {"name": "Eve"}})):
            answer = await rest(method, path, **options)
            assert answer.status_code == 422
            (entry,) = answer.json()["detail"]
            assert (entry["loc"], entry["type"]) == (["query", stray], "extra_forbidden")


async def test_both_rest_paths_answer_alike(rest, surface):
    customer = await surface.create_customer(data=ADA)
    by_id = await rest("GET", f"/customers/{customer['id']}")
    by_name = await rest("GET", "/customers/external/c-1")
    assert by_id.content == by_name.content
    assert by_id.headers["etag"] == by_name.headers["etag"]
    kept = await rest("GET", "/customers/external/c-1", headers={"If-None-Match": by_id.headers["etag"]})
    assert kept.status_code == 304


async def test_a_stale_etag_stops_a_change_by_either_id(rest, surface):
    customer = await surface.create_customer(data=ADA)
    etag = (await rest("GET", "/customers/external/c-1")).headers["etag"]
    changed = await surface.update_customer(external_id="c-1", data={"name": "Ada"}, if_match=etag)
    assert changed["name"] == "Ada"
    for named in ({"external_id": "c-1"}, {"id": customer["id"]}):
        await refused(
            surface.update_customer(**named, data={"name": "Eve"}, if_match=etag), 412, "precondition_failed"
        )


async def test_a_change_of_a_member_stales_the_customers_etag(rest, surface):
    customer = await surface.create_customer(data=ADA)
    etag = (await rest("GET", f"/customers/{customer['id']}")).headers["etag"]
    await surface.update_member(id=customer["members"][0]["id"], data={"name": "Ada"})
    await refused(
        surface.update_customer(id=customer["id"], data={"name": "Eve"}, if_match=etag),
        412,
        "precondition_failed",
    )


async def test_a_retry_by_external_id_gets_the_result_of_the_first_call(surface):
    await surface.create_customer(data=ADA)
    once = surface.with_headers(idempotency_key="a-key-of-the-caller")
    first = await once.update_customer(external_id="c-1", data={"name": "Ada"})
    again = await once.ask("update_customer", {"external_id": "c-1", "data": {"name": "Ada"}})
    assert again.value == first
    assert again.headers["idempotency-replayed"] == "true"


def test_the_reference_names_every_path_of_customers_once():
    paths = openapi_document()["paths"]
    by_id, by_name = paths["/api/customers/{id}"], paths["/api/customers/external/{external_id}"]
    assert by_name["get"]["operationId"] == "get_customer_by_external_id"
    assert by_name["patch"]["operationId"] == "update_customer_by_external_id"
    for path, name in ((by_id, "id"), (by_name, "external_id")):
        for method in ("get", "patch"):
            own = [parameter["name"] for parameter in path[method]["parameters"] if parameter["in"] == "path"]
            assert own == [name]
    names = [operation["operationId"] for path in paths.values() for operation in path.values()]
    assert len(names) == len(set(names))
