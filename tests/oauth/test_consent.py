"""The page on which people allow applications something, in a browser without JavaScript."""

from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit
from uuid import UUID, uuid4

import pytest
from sqlalchemy import update

from gateway.web.words.scopes import WORDS, in_words
from oauth.provider.authorization import LONGEST_AGE
from oauth.scopes import CLIENT_SCOPES
from storage.clock import now
from storage.rows.rows import table_of
from storage.tables.credentials.credentials import CredentialRow
from tests.support.browsers.browsing import browsing, signed_in
from tests.support.servers.gateways import make_tenant
from tests.support.tenants.applications import ISSUER, REDIRECT_URI, make_application, told
from tests.support.tenants.membership import make_member

_credentials = table_of(CredentialRow)


def sent_back(answer):
    """What the application is told; the browser is sent nowhere else."""
    assert answer.status_code == 303, answer.text
    location = answer.headers["location"]
    assert location.startswith(f"{REDIRECT_URI}?")
    assert answer.headers["referrer-policy"] == "no-referrer"
    parameters = told(location)
    assert (parameters["state"], parameters["iss"]) == ("the state", ISSUER)
    return parameters


@pytest.fixture
def browser(signed_in_browser):
    return signed_in_browser


async def visit(browser, application, **changes):
    return await browser.client.get(application.address(**changes))


async def allow(browser, application, workspace, **changes):
    await browser.open(application.address(**changes))
    choice = {} if workspace is None else {"workspace_id": workspace}
    return sent_back(await browser.press("Allow", follow=False, decision="allow", **choice))


async def test_the_page_names_the_application_and_its_scopes(browser, tenant, confidential):
    page = await browser.open(confidential.address(scope="email shares:read shares:write"))
    assert page.status_code == 200
    for words in ("Bookkeeper", tenant.user_email, "Acme", "app.example.com", "Create, change and archive"):
        assert words in browser.text
    assert "See shares with" not in browser.text


async def test_what_is_allowed_is_a_code_that_can_be_exchanged(browser, tenant, application):
    answer = await allow(browser, application, tenant.id, scope="openid shares:read")
    exchanged = await application.exchange(answer["code"])
    assert exchanged.json()["scope"] == "openid shares:read"
    assert await application.reach(exchanged.json()["access_token"]) == 200


async def test_a_token_of_the_user_takes_no_choice_of_a_workspace(browser, application):
    await browser.open(application.address(sub_type="user"))
    assert "all workspaces" in browser.text
    assert "workspace_id" not in dict(browser.form("Allow").fields)
    assert (await allow(browser, application, None, sub_type="user"))["code"]


async def test_a_denied_consent_is_reported_to_the_client(browser, confidential):
    await browser.open(confidential.address())
    answer = sent_back(await browser.press("Deny", follow=False, decision="deny"))
    assert answer["error"] == "access_denied"
    assert "code" not in answer


async def test_a_signed_out_user_signs_in_first_and_returns(gateway, tenant, confidential):
    async with browsing(gateway) as browser:
        await browser.open(confidential.address())
        assert browser.path.startswith("/sign-in?")
        await browser.press("Sign in", email=tenant.user_email, password="a long password")
        (back,) = [link for link in browser.reading.links if link.startswith("/oauth2/authorize?")]
        await browser.open(back)
        assert "Bookkeeper" in browser.text
        answer = sent_back(await browser.press("Allow", follow=False, decision="allow"))
        assert answer["code"]


async def test_what_was_allowed_is_not_asked_again_until_it_is_more(browser, tenant, confidential):
    await allow(browser, confidential, tenant.id, scope="openid shares:read")
    assert sent_back(await visit(browser, confidential, scope="openid"))["code"]
    assert (await visit(browser, confidential, scope="openid files:read")).status_code == 200
    assert (await visit(browser, confidential, scope="openid", sub_type="user")).status_code == 200
    assert (await visit(browser, confidential, scope="openid", prompt="consent")).status_code == 200
    assert (await visit(browser, confidential, scope="openid", prompt="select_account")).status_code == 200


async def test_what_was_taken_back_is_asked_again(browser, caller, tenant, confidential):
    await allow(browser, confidential, tenant.id)
    user = caller(tenant.personal_token)
    (application,) = (await user.list_authorized_applications())["data"]
    await user.revoke_authorized_application(id=application["id"])
    assert (await visit(browser, confidential)).status_code == 200


async def test_with_several_workspaces_one_is_chosen_each_time(browser, caller, tenant, confidential):
    user = caller(tenant.personal_token)
    second = await user.create_workspace(data={"name": "Second", "slug": f"w-{uuid4().hex}"})
    answer = await allow(browser, confidential, second["id"])
    token = (await confidential.exchange(answer["code"])).json()
    assert (await user.with_token(token["access_token"]).get_viewer())["workspace_id"] == second["id"]
    await browser.open(confidential.address())
    assert "previously allowed" in browser.text
    assert sent_back(await visit(browser, confidential, prompt="none"))["code"]
    await allow(browser, confidential, tenant.id)
    assert sent_back(await visit(browser, confidential, prompt="none"))["error"] == "interaction_required"


async def test_a_public_client_on_loopback_is_always_asked_for(gateway, browser, tenant):
    application = await make_application(gateway, is_public=True, redirect_uris=["http://127.0.0.1/cb"])
    await browser.open(application.address())
    answer = await browser.press("Allow", follow=False, decision="allow")
    assert answer.headers["location"].startswith("http://127.0.0.1/cb?code=")
    assert (await visit(browser, application)).status_code == 200


async def test_without_a_page_there_is_a_code_or_an_error(gateway, browser, tenant, confidential):
    async with browsing(gateway) as nobody:
        answer = sent_back(await visit(nobody, confidential, prompt="none"))
        assert answer["error"] == "login_required"
    assert sent_back(await visit(browser, confidential, prompt="none"))["error"] == "consent_required"
    await allow(browser, confidential, tenant.id)
    assert sent_back(await visit(browser, confidential, prompt="none"))["code"]
    more = await visit(browser, confidential, prompt="none", scope="files:read")
    assert sent_back(more)["error"] == "consent_required"


async def test_who_has_to_sign_in_again_does_it_once(browser, tenant, confidential):
    await browser.open(confidential.address(prompt="login"))
    assert browser.path.startswith("/sign-in?")
    assert "again=1" in browser.path
    await browser.press("Sign in", email=tenant.user_email, password="a long password")
    (back,) = [link for link in browser.reading.links if link.startswith("/oauth2/authorize?")]
    await browser.open(back)
    assert sent_back(await browser.press("Allow", follow=False, decision="allow"))["code"]
    await browser.open(confidential.address(prompt="login"))
    assert browser.path.startswith("/sign-in?")


async def test_an_old_sign_in_must_be_renewed(gateway, browser, tenant, confidential):
    await allow(browser, confidential, tenant.id)
    for young_enough in ("600", str(LONGEST_AGE)):
        assert sent_back(await visit(browser, confidential, max_age=young_enough))["code"]
    async with gateway.database.write() as connection:
        sessions = (_credentials.c.user_id == UUID(tenant.user_id)) & (_credentials.c.kind == "us")
        earlier = now() - timedelta(minutes=11)
        await connection.execute(update(_credentials).where(sessions).values(authenticated_at=earlier))
    answer = await visit(browser, confidential, max_age="600")
    assert answer.headers["location"].startswith("/sign-in?")
    answer = await visit(browser, confidential, max_age="600", prompt="none")
    assert sent_back(answer)["error"] == "login_required"


async def test_a_hint_at_another_user_asks_for_that_one(gateway, browser, tenant, other_tenant, confidential):
    mine = await confidential.tokens(tenant, scope="openid")
    theirs = await confidential.tokens(other_tenant, scope="openid")
    query = {"scope": "openid", "prompt": "none"}
    answer = await visit(browser, confidential, **query, id_token_hint=mine["id_token"])
    assert sent_back(answer)["code"]
    answer = await visit(browser, confidential, **query, id_token_hint=theirs["id_token"])
    assert sent_back(answer)["error"] == "login_required"
    answer = await visit(browser, confidential, scope="openid", id_token_hint=theirs["id_token"])
    assert answer.headers["location"].startswith("/sign-in?")


async def test_another_workspace_than_ones_own_cannot_be_chosen(browser, other_tenant, confidential):
    for workspace in (other_tenant.id, str(uuid4()), "x", ""):
        await browser.open(confidential.address())
        answer = await browser.press("Allow", follow=False, decision="allow", workspace_id=workspace)
        assert answer.status_code == 422
        assert "Choose one of your workspaces" in browser.text


async def test_a_form_without_a_choice_allows_nothing_though_it_was_allowed_before(
    browser, tenant, confidential
):
    await browser.open(confidential.address())
    token = dict(browser.form("Allow").fields)["form_token"]
    await allow(browser, confidential, tenant.id)
    form = [("decision", "allow"), ("form_token", token)]
    answer = await browser.send(confidential.address(), form, follow=False)
    assert (answer.status_code, answer.headers["location"]) == (303, confidential.address())


async def test_a_form_of_another_site_allows_nothing(gateway, browser, caller, tenant, confidential):
    """CSRF: what another site's page makes the browser send is refused, whatever it holds."""
    stranger = await make_tenant(gateway)
    async with signed_in(gateway, stranger) as attacker:
        await attacker.open(confidential.address())
        token = dict(attacker.form("Allow").fields)["form_token"]
    decision = [("decision", "allow"), ("workspace_id", tenant.id)]
    for forged, headers in (
        (decision, {}),
        ([*decision, ("form_token", "x")], {}),
        ([*decision, ("form_token", token)], {}),
    ):
        answer = await browser.send(confidential.address(), forged, follow=False, **headers)
        assert answer.status_code == 403
        assert "location" not in answer.headers
    await browser.open(confidential.address())
    own = dict(browser.form("Allow").fields)["form_token"]
    answer = await browser.send(
        confidential.address(),
        [*decision, ("form_token", own)],
        follow=False,
        **{"Sec-Fetch-Site": "cross-site"},
    )
    assert answer.status_code == 403
    assert (await caller(tenant.personal_token).list_authorized_applications())["data"] == []


async def test_the_page_cannot_be_put_into_another_sites_frame(browser, confidential):
    """Clickjacking."""
    page = await browser.open(confidential.address())
    policy = page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in policy
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["cache-control"] == "no-store"
    assert "form-action 'self' https://app.example.com;" in f"{policy};"
    assert "script-src 'self'" in policy


@pytest.mark.parametrize(
    "changes",
    [
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": f"{REDIRECT_URI}/evil"},
        {"redirect_uri": "//evil.example"},
        {"redirect_uri": None},
        {"client_id": "dg_ci_" + "a" * 24},
        {"client_id": None},
    ],
    ids=repr,
)
async def test_an_untrusted_request_gets_an_error_page(browser, confidential, changes):
    """Open redirect: nobody is sent anywhere, whether they look, allow or deny."""
    path = confidential.address(**changes)
    page = await browser.open(path)
    assert (page.status_code, len(page.history)) == (400, 0)
    assert "This link does not work" in browser.text
    assert "evil.example" not in page.text
    await browser.open(confidential.address())
    token = dict(browser.form("Allow").fields)["form_token"]
    for decision in ("allow", "deny"):
        answer = await browser.send(path, [("decision", decision), ("form_token", token)], follow=False)
        assert answer.status_code == 400
        assert "location" not in answer.headers


async def test_a_name_with_markup_is_shown_as_it_is(gateway, browser):
    application = await make_application(gateway, name="<script>alert(1)</script> & Söhne")
    page = await browser.open(application.address())
    assert "<script>alert(1)</script>" not in page.text
    assert "<script>alert(1)</script> & Söhne" in browser.text


async def test_without_a_workspace_there_is_nothing_to_allow(browser, caller, tenant, gateway, confidential):
    second = await make_member(gateway, tenant, "owner")
    owner = caller(second.token)
    member = (await owner.list_workspace_members(user_id=[tenant.user_id]))["data"][0]
    await owner.remove_workspace_member(id=member["id"])
    # An invitation is no choice either.
    other = await make_tenant(gateway)
    await caller(other.personal_token).invite_workspace_member(data={"email": tenant.user_email})
    await browser.open(confidential.address())
    assert "you do not belong to one yet" in browser.text
    assert other.slug not in browser.page.text
    answer = sent_back(await browser.press("Deny", follow=False, decision="deny"))
    assert answer["error"] == "access_denied"


async def test_where_one_comes_back_to_after_signing_in_is_here(gateway, confidential):
    async with browsing(gateway) as browser:
        answer = await visit(browser, confidential)
        (next_path,) = [v for n, v in parse_qsl(urlsplit(answer.headers["location"]).query) if n == "next"]
        assert next_path.startswith("/oauth2/authorize?")


def test_every_scope_has_words():
    assert set(WORDS) == CLIENT_SCOPES
    assert in_words(["shares:read", "shares:write", "openid"]) == [
        "Identify you when you sign in",
        "Create, change and archive shares",
    ]
