"""The calls that pages offer to copy: what they print, run as it is printed."""

import json
import subprocess
from datetime import date

import pytest

from gateway.web.kit.calls import written_call
from resolvers.customers.customers import create_customer, delete_customer
from resolvers.events.events import list_events
from resolvers.metrics.metrics import get_metrics
from resolvers.shares.shares import get_share, list_shares, update_share


def in_a_shell(command, token):
    """The arguments that a shell passes to curl."""
    shown = subprocess.run(
        ["/bin/bash", "-c", f'curl() {{ printf "%s\\0" "$@"; }}\n{command}'],
        env={"TOKEN": token},
        check=True,
        capture_output=True,
    )
    return shown.stdout.decode().split("\0")[:-1]


@pytest.fixture
def printed(gateway):
    """Writes the call of a resolver, at the gateway's address."""
    schema = gateway.app.state.schema._schema

    def write(resolver, selection=None, **arguments):
        return written_call(schema, "http://gateway/api", resolver, arguments, selection)

    return write


@pytest.fixture
def run(gateway, tenant):
    """Runs both texts of a call: the answers of curl's request and of the document."""

    async def both(call):
        words = in_a_shell(call.curl, tenant.token)
        options = {name: [] for name in ("-X", "-H", "-d")}
        address = ""
        while words:
            word = words.pop(0)
            if word in options:
                options[word].append(words.pop(0))
            else:
                address = word
        headers = dict(header.split(": ", 1) for header in options["-H"])
        [method] = options["-X"] or ["GET"]
        content = options["-d"][0] if options["-d"] else None
        rest = await gateway.client.request(method, address, content=content, headers=headers)
        body = {"query": call.graphql, "variables": json.loads(call.variables or "{}")}
        token = {"Authorization": f"Bearer {tenant.token}"}
        graph = await gateway.client.post("/graphql", json=body, headers=token)
        assert rest.is_success, rest.text
        assert "errors" not in graph.json(), graph.text
        return rest.json(), graph.json()["data"]

    return both


async def test_a_list_with_its_filters(printed, run, rest):
    made = await rest.create_share(
        data={"name": "Field guide", "prices": [{"amount_type": "free"}], "metadata": {"shelf mark": "7a"}}
    )
    await rest.create_share(data={"name": "Another", "prices": [{"amount_type": "free"}]})
    filters = {
        "query": 'field "',
        "visibility": ["public"],
        "is_archived": False,
        "sorting": ["-name"],
        "metadata": [{"key": "shelf mark", "value": "7a"}],
    }
    listed, graph = await run(printed(list_shares, filters=filters))
    assert listed["data"] == [] == graph["shares"]["data"]
    listed, graph = await run(printed(list_shares, filters=filters | {"query": "field"}))
    assert [share["id"] for share in listed["data"]] == [made["id"]]
    assert [share["id"] for share in graph["shares"]["data"]] == [made["id"]]
    assert graph["shares"]["meta"]["total"] == 1


async def test_one_resource_with_all_its_data(printed, run, rest):
    made = await rest.create_share(data={"name": "It's $5", "prices": [{"amount_type": "free"}]})
    read, graph = await run(printed(get_share, id=made["id"]))
    assert read == made
    assert graph["share"]["prices"][0]["amountType"] == "FREE"


async def test_changes_hold_any_text(printed, run, rest):
    made = await rest.create_share(data={"name": "Guide", "prices": [{"amount_type": "free"}]})
    data = {
        "name": 'It\'s "the" $HOME\\guide',
        "visibility": "draft",
        "description": "One line\nand another",
        "metadata": {"a key with 'quotes'": True, "$TOKENS": 5},
    }
    changed, graph = await run(printed(update_share, id=made["id"], data=data))
    assert changed["metadata"] == data["metadata"] == graph["updateShare"]["metadata"]
    assert changed["name"] == data["name"] == graph["updateShare"]["name"]
    assert graph["updateShare"]["visibility"] == "DRAFT"


async def test_a_new_resource(printed, run):
    data = {"email": "ada@example.com", "billing_address": {"postal_code": "10115"}}
    call = printed(create_customer, selection="{ email }", data=data)
    assert json.loads(call.variables) == {
        "data": {"email": "ada@example.com", "billingAddress": {"postalCode": "10115"}}
    }
    assert "createCustomer(data: $data) {\n    email\n  }" in call.graphql


async def test_a_parameter_beside_the_id(printed):
    call = printed(delete_customer, id="an id/", anonymize=True)
    assert call.curl.startswith("curl -X DELETE 'http://gateway/api/customers/an%20id%2F?anonymize=true'")
    assert 'deleteCustomer(id: "an id/", anonymize: true)' in call.graphql


async def test_a_document_leaves_out_what_only_rest_takes(printed):
    filters = {"start_date": "2026-01-01", "end_date": "2026-01-31", "format": "csv"}
    call = printed(get_metrics, selection="{ timezone }", filters=filters)
    assert "format=csv" in call.curl
    assert "format" not in call.graphql


async def test_what_a_chart_shows(printed, run):
    call = printed(
        get_metrics,
        selection="{ periods { timestamp fileShareRevenue } }",
        filters={
            "start_date": date(2026, 1, 1),
            "end_date": date(2026, 1, 31),
            "interval": "day",
            "metrics": ["file_share_revenue"],
        },
    )
    rest, graph = await run(call)
    assert len(rest["periods"]) == 31 == len(graph["metrics"]["periods"])


async def test_events_between_moments(printed, run):
    filters = {"start_timestamp": "2026-01-31T09:30:00Z", "name": ["customer.created"], "limit": 25}
    rest, graph = await run(printed(list_events, filters=filters))
    assert rest["meta"]["total"] == 0 == graph["events"]["meta"]["total"]
