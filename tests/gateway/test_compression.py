"""Compressed answers: which are, that they are the same, and which never are."""

import zlib
from random import Random

import pytest
from backports import zstd
from httpx import ASGITransport, AsyncClient

from gateway.web.kit.assets import asset_url
from gateway.web.kit.cookies import SESSION
from resolvers.operations.http.compression import encoding_for
from rest_compat.api import documented_routes
from tests.support.browsers.browsing import Reading
from tests.support.callers.surfaces import Rest
from tests.support.measures.cases import cases
from tests.support.servers.gateways import bearer, start_session

DECODE = {"gzip": lambda body: zlib.decompress(body, 31), "zstd": zstd.decompress, "": lambda body: body}
SHARE = {"name": "Atlas", "description": "A long text. " * 200, "prices": [{"amount_type": "free"}]}
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}
SHARES = "{ shares { data { id description } } }"


@pytest.fixture
async def share(gateway, tenant):
    return await Rest(gateway.client, gateway.app, tenant.token).create_share(data=SHARE)


async def sent(gateway, method, path, encoding, headers=(), **body):
    """The answer with its bytes as they were sent."""
    headers = {"Accept-Encoding": encoding, **dict(headers)}
    # The hooks of the gateway's own client would decode it.
    async with (
        AsyncClient(transport=ASGITransport(gateway.app), base_url="http://gateway") as client,
        client.stream(method, path, headers=headers, **body) as answer,
    ):
        raw = b"".join([chunk async for chunk in answer.aiter_raw()])
    assert int(answer.headers["content-length"]) == len(raw)
    return answer, raw


async def test_reads_of_both_surfaces_are_the_same_in_each_encoding(gateway, tenant, share):
    for method, path, body in (
        ("GET", f"/api/shares/{share['id']}", {}),
        ("GET", "/api/shares/", {}),
        ("GET", "/api/shares/?expand=workspace", {}),
        ("POST", "/graphql", {"json": {"query": SHARES}}),
        ("GET", "/graphql", {"params": {"query": SHARES}}),
    ):
        bodies, tags = {}, set()
        for encoding in ("", "gzip", "zstd"):
            answer, raw = await sent(gateway, method, path, encoding, bearer(tenant.token), **body)
            assert answer.headers.get("content-encoding", "") == encoding
            assert "Accept-Encoding" in answer.headers["vary"]
            bodies[encoding] = DECODE[encoding](raw)
            assert len(raw) < len(bodies[encoding]) / 2 or not encoding
            tags.add(answer.headers.get("etag"))
        assert bodies["gzip"] == bodies["zstd"] == bodies[""]
        # A tag that was read in one encoding holds in each.
        assert len(tags) == 1


async def test_an_answer_is_in_an_encoding_that_the_client_takes_and_the_same_in_each(gateway, tenant, share):
    random, seen = Random(9), set()
    asked = [
        ("GET", f"/api/shares/{share['id']}", {}),
        ("GET", "/api/shares/?query=nothing-is-called-so", {}),
        ("GET", "/openapi.json", {}),
        ("POST", "/graphql", {"json": {"query": SHARES}}),
    ]
    plain = [(await sent(gateway, *each[:2], "", bearer(tenant.token), **each[2]))[1] for each in asked]
    for _ in range(cases(20)):
        names = random.sample(["gzip", "zstd", "identity", "*", "br", "deflate"], random.randint(0, 4))
        weights = {name: random.choice(["0", "0.0", "0.001", "0.5", "1", "1.000"]) for name in names}
        accepted = ", ".join(f"{name};q={weight}" for name, weight in weights.items())
        place = random.randrange(len(asked))
        method, path, body = asked[place]
        answer, raw = await sent(gateway, method, path, accepted, bearer(tenant.token), **body)
        encoding = answer.headers.get("content-encoding", "")
        assert DECODE[encoding](raw) == plain[place], (accepted, path)
        assert not encoding or float(weights.get(encoding, weights.get("*", "0"))) > 0, (accepted, path)
        seen.add(encoding)
    assert seen == set(DECODE)


async def test_the_tag_of_a_compressed_answer_holds_for_a_change_and_a_read(gateway, tenant, share):
    path, own = f"/api/shares/{share['id']}", bearer(tenant.token)
    answer, _ = await sent(gateway, "GET", path, "gzip", own)
    known = {**own, "If-None-Match": answer.headers["etag"]}
    assert (await sent_bare(gateway, path, known)).status_code == 304
    changed = {**own, "If-Match": answer.headers["etag"]}
    assert (await gateway.client.patch(path, json={"name": "Other"}, headers=changed)).status_code == 200


async def sent_bare(gateway, path, headers):
    return await gateway.client.get(path, headers={"Accept-Encoding": "gzip", **headers})


async def test_short_answers_and_those_that_were_not_asked_for_are_plain(gateway, tenant, share):
    for path, encoding in (
        ("/api/shares/?query=nothing-is-called-so", "gzip"),
        ("/api/shares/", "identity"),
        ("/api/shares/", "br"),
        ("/api/shares/", "gzip;q=0, zstd;q=0"),
    ):
        answer, _ = await sent(gateway, "GET", path, encoding, bearer(tenant.token))
        assert "content-encoding" not in answer.headers, (path, encoding)


async def test_what_may_hold_a_secret_beside_what_another_chose_is_plain(gateway, tenant, share):
    own = bearer(tenant.token)
    data = {"comment": "x" * 2000, "scopes": ["shares:read"]}
    mutation = f'mutation {{ updateShare(id: "{share["id"]}", data: {{name: "Other"}}) {{ description }} }}'
    for method, path, headers, body in (
        ("POST", "/api/workspace-access-tokens/", own, {"json": data}),
        ("PATCH", f"/api/shares/{share['id']}", own, {"json": {"name": "Atlas"}}),
        ("POST", "/graphql", own, {"json": {"query": mutation}}),
        ("GET", "/api/shares/", {**own, "Cookie": f"{SESSION}=other"}, {}),
        ("GET", "/sign-in", SAME_ORIGIN, {}),
        ("POST", "/api/oauth2/token", {}, {"data": {"grant_type": "x" * 2000}}),
    ):
        answer, _ = await sent(gateway, method, path, "gzip, zstd", headers, **body)
        assert "content-encoding" not in answer.headers, (method, path)


def test_no_read_of_rest_answers_a_secret_that_is_shown_once():
    """Reads are compressed, whatever they answer."""
    reads = [route for route in documented_routes() if route.method == "GET"]
    assert reads
    assert [route.path for route in reads if route.operation.seals] == []


async def test_pages_are_compressed_for_their_own_user_only(gateway, tenant):
    """Neither the answer to a form is, nor what another site may have asked for."""
    session = {"Cookie": f"{SESSION}={(await start_session(gateway, tenant.user_id)).text}"}
    page = f"/workspaces/{tenant.slug}/access-tokens"
    for site in ("same-origin", "none"):
        answer, raw = await sent(gateway, "GET", page, "zstd", {**session, "Sec-Fetch-Site": site})
        assert "Accept-Encoding" in answer.headers["vary"]
        text = zstd.decompress(raw).decode()
        assert len(raw) < len(text) / 2
    for site in ({}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        answer, raw = await sent(gateway, "GET", page, "zstd", {**session, **site})
        assert "content-encoding" not in answer.headers
    (form,) = (form for form in Reading(text).forms if "Create token" in form.buttons)
    fields = dict(form.fields) | {"comment": "For curl", "scopes": "shares:read"}
    answer, raw = await sent(gateway, "POST", page, "zstd", {**session, **SAME_ORIGIN}, data=fields)
    assert (answer.status_code, "content-encoding" in answer.headers) == (201, False)
    assert b'id="secret"' in raw


async def test_contracts_and_styles_are_compressed_for_everybody(gateway):
    for path in ("/openapi.json", "/schema.graphql", "/docs/guide", "/.well-known/openid-configuration"):
        plain, whole = await sent(gateway, "GET", path, "")
        for encoding in ("gzip", "zstd"):
            answer, raw = await sent(gateway, "GET", path, encoding)
            assert answer.headers["content-encoding"] == encoding
            assert DECODE[encoding](raw) == whole
            assert answer.headers.get("etag") == plain.headers.get("etag")
            assert "Accept-Encoding" in plain.headers["vary"]
        head, nothing = await sent_head(gateway, path)
        assert (head.status_code, nothing) == (200, b"")
    style = asset_url("chart.js")
    plain, whole = await sent(gateway, "GET", style, "")
    head, nothing = await sent_head(gateway, style)
    # Of a file, whose answer to HEAD has no body, the headers are those of the plain one.
    assert (head.headers["content-length"], nothing) == (str(len(whole)), b"")
    assert "content-encoding" not in head.headers


async def sent_head(gateway, path):
    answer = await gateway.client.head(path, headers={"Accept-Encoding": "gzip"})
    return answer, answer.content


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [
        (b"gzip, deflate, br, zstd", "zstd"),
        (b"gzip", "gzip"),
        (b"GZIP;q=0.5, zstd;q=0.4", "gzip"),
        (b"*", "zstd"),
        (b"zstd;q=0, *", "gzip"),
        (b"identity, gzip;q=0.5", None),
        (b"gzip;q=none", None),
        (b"", None),
    ],
)
def test_the_encoding_is_the_one_with_the_largest_weight(accepted, encoding):
    assert encoding_for({b"accept-encoding": accepted}) == encoding
