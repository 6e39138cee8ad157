"""Documents that differ in literals only: one is kept for all, and each is answered as if it were new."""

import json
from uuid import uuid4

import pytest
from graphql import (
    FloatValueNode,
    IntValueNode,
    StringValueNode,
    Visitor,
    parse,
    value_from_ast_untyped,
    visit,
)
from graphql.error import GraphQLSyntaxError
from hypothesis import given
from hypothesis import strategies as st

from resolvers.graph.survey import extension
from resolvers.graph.survey.literals import Template, outline_of
from tests.support.callers.surfaces import Rest

# What texts, numbers, comments and names of GraphQL are made of.
PIECES = [
    *('"', '""', '"""', '\\"', "\\", "\\n", "\\u0041", "\\u{1F600}", "\n", "# ", "ä", "\U0001f600"),
    *("a", "a1", "_9", "$", ":", "[", "]", "{", "}", "(", ")", "...", ",", " ", "\t"),
    *("0", "-0", "7", "-7", "007", "1.5", "-2e3", "1.", ".5", "9" * 25, "1x"),
]

ABSENT = "00000000-0000-4000-8000-000000000000"


@pytest.fixture
def documents(gateway):
    documents = gateway.app.state.schema.documents
    documents.parsed.clear()
    documents.patterns.clear()
    return documents


@pytest.fixture
def answered(gateway, tenant, documents, monkeypatch):
    """Answer a document as if it were new, and then by the template of another one of its outline."""
    filled = []
    variables = Template.variables
    monkeypatch.setattr(Template, "variables", lambda *each: filled.append(each) or variables(*each))

    async def send(text):
        headers = {"Authorization": f"Bearer {tenant.token}"}
        answer = await gateway.client.post("/graphql", json={"query": text}, headers=headers)
        return answer.status_code, answer.json()

    async def both(first, text):
        documents.parsed.clear()
        documents.patterns.clear()
        new = await send(text)
        documents.parsed.clear()
        documents.patterns.clear()
        await send(first)
        filled.clear()
        return new, await send(text), len(filled)

    return both


@pytest.mark.parametrize(
    ("first", "text"),
    [
        ('{ customer(id: "x") { id } }', '{ customer(id: "a longer one") { id } }'),
        (
            '{ a: customer(id: "x") { id } b: share(id: "y") { id } }',
            f'{{ a: customer(id: "{ABSENT}") {{ id }} b: share(id: "none") {{ id }} }}',
        ),
        ("{ shares(limit: 1) { data { id } } }", "{ shares(limit: 101) { data { id } } }"),
        ("{ shares(limit: 1) { data { id } } }", f"{{ shares(limit: {10**11}) {{ data {{ id }} }} }}"),
        ("{ shares(limit: 1) { data { id } } }", "{ shares(limit: 1.5) { data { id } } }"),
        ("{ share(id: 1) { id } }", "{ share(id: 22) { id } }"),
        ("{ share(id: 1) { id } }", "{ share(id: -0) { id } }"),
        ('{ shares(sorting: NAME, query: "a") { data { id } } }',) * 2,
        ('{ customers(id: "x") { data { id } } }', '{ customers(id: "") { data { id } } }'),
        (
            '{ customers(query: "x") { data { id } } }',
            '{ customers(query: "say \\"\\u00e4\\"") { data { id } } }',
        ),
        (
            '{ customers(query: "x") { data { id } } }',
            '{ customers(query: """a\n  block""") { data { id } } }',
        ),
        (
            '# "not" 1\n{ a1: customers(limit: 2, metadata: [{key: "a", value: "b"}]) { data { id } } }',
            '# "not" 1\n{ a1: customers(limit: 5, metadata: [{key: "plan", value: "pro"}]) { data { id } } }',
        ),
        ('{ node(id: "x") { id ...P } } fragment P on Share { name }',) * 2,
        ('{ __type(name: "Share") { name } }', '{ __type(name: "Event") { name } }'),
        ('query A { share(id: "x") { id } } query B { share(id: "x") { id } }',) * 2,
        (
            'mutation { createCustomer(data: {email: "a@b.example"}) { id } }',
            'mutation { createCustomer(data: {email: "no\\\\ne"}) { id } }',
        ),
        (
            'mutation { createShare(data: {name: "A", prices: [{amountType: FIXED, priceAmount: 5}]}) {id} }',
            'mutation {\n createShare(data: {name: "", prices: [{amountType: FIXED, priceAmount: 0}]}) {id}}',
        ),
        (
            'mutation { a: deleteShare(id: "a") b: deleteShare(id: "b") }',
            f'mutation {{ a: deleteShare(id: "{ABSENT}") b: deleteShare(id: "none") }}',
        ),
        # Literals stay beside variables that the document has itself.
        (
            'query ($limit: Int) { shares(limit: $limit, query: "x") { data { id } } }',
            'query ($limit: Int) { shares(limit: $limit, query: "other") { data { id } } }',
        ),
        (
            'mutation { createCustomer(data: {email: "a@b.example", metadata: {a: ["x", 1]}}) { id } }',
            'mutation { createCustomer(data: {email: "b@c.example", metadata: {a: ["other", 2]}}) { id } }',
        ),
        # Under one name in the answer, only equal fields can be read as one: different ones are refused.
        (
            'mutation { a: deleteShare(id: "x") a: deleteShare(id: "x") }',
            f'mutation {{ a: deleteShare(id: "{ABSENT}") a: deleteShare(id: "none") }}',
        ),
        (
            "{ ...A files(limit: 2) { meta { page } } } fragment A on Query { files(limit: 2) {__typename} }",
            "{ ...A files(limit: 2) { meta { page } } } fragment A on Query { files(limit: 3) {__typename} }",
        ),
    ],
)
async def test_a_document_with_other_literals_is_answered_as_if_it_were_new(answered, first, text):
    new, again, _ = await answered(first, text)
    assert json.dumps(again) == json.dumps(new)


async def test_literals_of_objects_without_declared_fields_are_filled_in(answered, gateway, tenant):
    def creating(email, plan, seats):
        data = f'{{email: "{email}", metadata: {{plan: "{plan}", seats: {seats}, isPaid: true}}}}'
        return f"mutation {{ createCustomer(data: {data}) {{ metadata }} }}"

    first = creating(f"{uuid4()}@example.com", "free", 1)
    _, (_, again), filled = await answered(first, creating(f"{uuid4()}@example.com", "pro", 25))
    # The customer is there already: the document was answered twice.
    assert again["data"] == {"createCustomer": None}
    assert filled == 1
    (made, *_) = (await Rest(gateway.client, gateway.app, tenant.token).list_customers(sorting="created_at"))[
        "data"
    ]
    assert made["metadata"] == {"plan": "pro", "seats": 25, "isPaid": True}


async def test_a_document_of_a_known_outline_is_not_parsed(gateway, tenant, documents, monkeypatch):
    parsed = []
    parse_text = extension._parse
    monkeypatch.setattr(extension, "_parse", lambda text: parsed.append(text) or parse_text(text))
    headers = {"Authorization": f"Bearer {tenant.token}"}
    for number in range(3):
        text = f'mutation {{ createCustomer(data: {{email: "{uuid4()}@example.com"}}) {{ email }} }}'
        answer = await gateway.client.post("/graphql", json={"query": text}, headers=headers)
        assert answer.json()["data"]["createCustomer"]["email"] in text
        assert len(parsed) == 1, number


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_the_literals_of_an_outline_are_those_that_the_parser_finds(middle):
    text = f"{{ a(b: [{middle}]) }}"
    try:
        document = parse(text)
    except GraphQLSyntaxError:
        return

    class Literals(Visitor):
        def __init__(self) -> None:
            super().__init__()
            self.found = []

        def enter(self, node, *_):
            if isinstance(node, IntValueNode | FloatValueNode | StringValueNode):
                self.found.append((type(node), value_from_ast_untyped(node), (node.loc.start, node.loc.end)))

    literals = Literals()
    visit(document, literals)
    outline = outline_of(text)
    if outline is not None:
        kinds = {"s": StringValueNode, "i": IntValueNode, "f": FloatValueNode}
        signs = [kinds[part[0]] for part in outline.text.split("\0")[1:]]
        assert list(zip(signs, outline.values, outline.places, strict=True)) == literals.found
    else:
        assert not literals.found or any(text[s:e] == "-0" or e - s > 20 for _, _, (s, e) in literals.found)
