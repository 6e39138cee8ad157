"""GraphQL documents made to cost much more than they say: they are refused and charged.

`make growth` measures that it is done quickly.
"""

from typing import Any

import pytest
import pytest_asyncio
from graphql import get_introspection_query, parse

from resolvers.graph.survey.documents import BYTES_OF_DOCUMENTS, LONGEST_CACHED, Documents
from resolvers.operations.shapes.writers import key
from tests.support.measures.work import counted_calls
from tests.support.servers.gateways import make_tenant, run_gateway

REFERENCE = "kind name ofType { kind name ofType { kind name } }"


@pytest_asyncio.fixture(scope="module")
async def counting(database_url, tmp_path_factory):
    async for gateway in run_gateway(database_url, tmp_path_factory.mktemp("objects"), rate_limit=100_000):
        yield gateway


@pytest.fixture
def ask(counting):
    async def send(query: str, variables: Any = None, token: str | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        body = {"query": query, "variables": variables}
        return await counting.client.post("/graphql", json=body, headers=headers)

    return send


def refused(answer: Any) -> tuple[str, str]:
    """The code and the words of the first error."""
    error = answer.json()["errors"][0]
    detail = error["extensions"]["detail"]
    return error["extensions"]["code"], detail if isinstance(detail, str) else detail[0]["msg"]


def chain(length: int, last: str, spreads: int = 2) -> str:
    """A document whose fragments each spread the next one several times."""
    fragments = " ".join(f"fragment f{n} on Query {{ {f'...f{n + 1} ' * spreads} }}" for n in range(length))
    return f"{{ ...f0 }} {fragments} fragment f{length} on Query {{ {last} }}"


def times(count: int, part: str) -> str:
    return " ".join(part.replace("#", str(n)) for n in range(count))


# Some 5,000 tokens or 64 KiB each, with what is refused in them.
HOSTILE = {
    "fragments that double and lead nowhere": (chain(40, "...missing"), "Unknown fragment 'missing'."),
    "fragments that double and lead somewhere": (chain(20, "__typename"), "more than 5000 selections"),
    "fragments that spread each other": (
        "{ ...f0 } " + times(12, f"fragment f# on Query {{ {times(12, '...f#')} }}"),
        "within itself",
    ),
    "a long chain of fragments": (chain(400, "__typename", 1), "more than 100 levels"),
    "fragments side by side": (
        f"{{ {times(400, '...f#')} }} {times(400, 'fragment f# on Query { viewer { kind } }')}",
        "repeats too many fields",
    ),
    "one field over and over": (f"{{ {times(700, 'workspaces { data { id } }')} }}", "repeats too many"),
    "one leaf over and over": (f"{{ shares {{ data {{ {'id ' * 4_900} }} }} }}", "repeats too many"),
    "names of the type": ("{ " + "__typename " * 4_900 + "}", "repeats too many fields"),
    "aliases of the name of the type": (f"{{ {times(61, 'a#: __typename')} }}", "61 aliases"),
    "an alias that the answer repeats": (f"{{ {'a' * 101}: __typename }}", "101 characters"),
    "the schema forty times": (
        f"{{ {times(40, 'a#: __schema { ...F }')} }} fragment F on __Schema {{ types {{ name }} }}",
        "40 fields `__schema`",
    ),
    "types six times": (
        f"{{ {times(6, 'a#: __type(name: {0}) {{ name }}')} }}".replace("{0}", '"Query"')
        .replace("{{", "{")
        .replace("}}", "}"),
        "6 fields `__type`",
    ),
    "the schema with aliases inside": (
        "{ __schema { a: types { name } b: types { name } } }",
        "cannot have an alias",
    ),
    "the members of members of all types": (
        "{ __schema { types { fields { type { fields { name } } } } } }",
        "Below `__schema`",
    ),
    "unknown fields": (f"{{ {times(2_400, 'unknown#')} }}", "Cannot query field 'unknown0'"),
    "unknown fields far down": (f"{{{chr(10) * 45_000}{times(1_000, 'x#')}}}", "Cannot query field 'x0'"),
    "an object of unknown fields": (
        f"mutation {{ createShare(data: {{ {times(1_200, 'unknown#: 1')} }}) {{ id }} }}",
        "`data` should have at most",
    ),
    "directives": ("{ __typename" + " @x" * 2_400 + " }", "Unknown directive '@x'."),
    "many operations": (times(900, "query q# { __typename }"), "several operations"),
    "variables": (f"query({times(1_200, '$v#: Int')}) {{ __typename }}", "'$v0' is never used"),
    "fragments within each other without a name": (
        "{ " + "... { " * 300 + "__typename" + " }" * 300 + " }",
        "nested too deeply",
    ),
    "lists within lists": (f"{{ shares(limit: {'[' * 900}{']' * 900}) {{ meta {{ total }} }} }}", "too deep"),
    "a number of 60,000 digits": (
        f"{{ shares(limit: {'9' * 60_000}) {{ meta {{ total }} }} }}",
        "`limit` should be a finite number",
    ),
    "blanks beyond the limit": ("{__typename}" + " " * 65_536, "65548 bytes; the limit is 65536"),
}


@pytest.mark.parametrize("name", sorted(HOSTILE))
async def test_a_hostile_document_is_refused_in_few_bytes(ask, counting, name):
    document, words = HOSTILE[name]
    for token in (None, (await make_tenant(counting)).token):
        answer = await ask(document, token=token)
        assert "data" not in answer.json()
        assert len(answer.content) < 256 * 1024
        assert int(answer.headers["ratelimit-cost"]) >= 1
    assert words in refused(answer)[1]


@pytest.mark.parametrize("written", ["$ids", "$ HASH not at once\n ids"])
async def test_one_long_variable_in_sixty_places_is_refused_before_any_of_them(ask, counting, written):
    tenant = await make_tenant(counting)
    places = times(60, f"a#: shares(workspaceId: {written}) {{ meta {{ total }} }}").replace("HASH", "#")
    answer = await ask(f"query ($ids: [ID!]) {{ {places} }}", {"ids": [1] * 80_000}, tenant.token)
    assert (answer.status_code, refused(answer)[0]) == (413, "too_large")
    assert "limit is 262144" in refused(answer)[1]
    # The text has more than 500 tokens.
    assert answer.headers["ratelimit-cost"] == "2"


async def test_a_variable_that_fits_can_be_in_several_places(ask, counting):
    tenant = await make_tenant(counting)
    document = (
        "query ($n: Int, $ids: [ID!]) { a: shares(limit: $n) { ...T }"
        " b: shares(limit: $n, workspaceId: $ids) { ...T } } fragment T on ShareConnection { meta { total } }"
    )
    answer = await ask(document, {"n": 3, "ids": [tenant.id]}, tenant.token)
    assert answer.json()["data"] == {"a": {"meta": {"total": 0}}, "b": {"meta": {"total": 0}}}


async def test_scopes_behind_fragments_and_directives_are_demanded_once_each_is_surveyed_once(ask):
    for document in (
        "{ ...a ...a } fragment a on Query { ...b } fragment b on Query { shares { meta { total } } }",
        "query ($n: Boolean = false) { ...a @include(if: $n) } fragment a on Query { files { data { id } } }",
        "{ ... @skip(if: true) { ... on Query { events { meta { total } } } } }",
    ):
        answer = await ask(document)
        assert refused(answer)[0] == "unauthorized"


@pytest.mark.parametrize(
    "document",
    [
        get_introspection_query(),
        get_introspection_query(descriptions=False, specified_by_url=True, schema_description=True),
        get_introspection_query(directive_is_repeatable=True, input_value_deprecation=True),
    ],
)
async def test_the_usual_introspection_costs_ten_calls_and_is_answered_from_a_cache(ask, document):
    with counted_calls() as made:
        first = await ask(document + "# the first time")
    again = await ask(document)
    with counted_calls() as looked_up:
        kept = await ask(document)
    assert first.json() == again.json() == kept.json()
    assert len(kept.json()["data"]["__schema"]["types"]) > 100
    assert {answer.headers["ratelimit-cost"] for answer in (first, again, kept)} == {"10"}
    assert looked_up.number < made.number / 10


async def test_an_answer_from_the_cache_is_that_of_the_operation_that_was_named(counting):
    document = "query A { __schema { queryType { name } } } query B { __schema { mutationType { name } } }"
    for name, field, type_name in (("A", "queryType", "Query"), ("B", "mutationType", "Mutation")) * 2:
        body = {"query": document, "operationName": name}
        answer = await counting.client.post("/graphql", json=body)
        assert answer.json() == {"data": {"__schema": {field: {"name": type_name}}}}


async def test_what_depends_on_variables_is_not_answered_from_the_cache(ask):
    document = "query ($yes: Boolean!) { __schema { queryType { name @include(if: $yes) kind } } }"
    for yes in (True, False, True):
        answer = await ask(document, {"yes": yes})
        assert ("name" in answer.json()["data"]["__schema"]["queryType"]) is yes


async def test_types_can_be_asked_for_one_by_one(ask):
    answer = await ask(f'{{ __type(name: "Share") {{ name fields {{ name type {{ {REFERENCE} }} }} }} }}')
    assert answer.json()["data"]["__type"]["name"] == "Share"
    assert answer.headers["ratelimit-cost"] == "10"


async def test_long_and_invalid_documents_are_not_kept(counting):
    kept = counting.app.state.schema.get_extensions()[0]._documents.parsed
    before = set(kept.entries)
    for number in range(20):
        for document in (f"{{__typename}}#{number}{'x' * LONGEST_CACHED}", f"{{ nothing{number} }}", "{"):
            await counting.client.post("/graphql", json={"query": document})
    assert set(kept.entries) == before


def test_the_documents_that_are_kept_have_a_size():
    documents = Documents()
    for number in range(200):
        text = f"{{ a{number} {'b ' * 1_000} }}"
        documents.keep(text, parse(text))
    assert 0 < documents.parsed.size <= BYTES_OF_DOCUMENTS
    assert documents.parsed.size == sum(size for _, size in documents.parsed.entries.values())
    assert documents.parsed.get("{ a199 " + "b " * 1_000 + " }") is not None
    assert documents.parsed.get("{ a0 " + "b " * 1_000 + " }") is None


@pytest.mark.parametrize("name", ["", "a b", "a\n", "a'", 'a"', "a\\", "1a", "ä", "a: 1, **vars()"])
def test_what_is_no_name_of_graphql_does_not_become_part_of_a_writer(name):
    with pytest.raises(ValueError, match="other characters"):
        key(name)
