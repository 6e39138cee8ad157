"""The keys that secret-scanning reports are signed by: which count, and when they are fetched."""

from datetime import timedelta

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from oauth.revocation.signed_reports import LARGEST_ANSWER
from tests.mail.scanning import find, still_works
from tests.support.servers.gateways import make_tenant
from tests.support.servers.report_keys import pem_of


@pytest.mark.parametrize(
    "private",
    [ec.generate_private_key(ec.SECP384R1()), ec.generate_private_key(ec.SECP256K1())],
    ids=lambda key: key.curve.name,
)
async def test_only_keys_on_the_curve_p256_count(report, keys, private):
    answer = await report(find("x"), key=keys.add_key(private))
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")


async def test_a_key_is_unknown_where_none_are_published(report, keys):
    unpublished = keys.add_key()
    signed = keys.sign(unpublished, b"[]")
    keys.keys.clear()
    answer = await report(find("x"), headers=signed)
    assert (answer.status_code, answer.json()["error"]) == (401, "invalid_token")


async def test_entries_that_are_no_such_key_are_passed_over(report, keys):
    other = pem_of(rsa.generate_private_key(65537, 2048))
    keys.others = [{"key_identifier": "rsa", "key": other}, {"key_identifier": "none", "key": "PEM"}]
    assert (await report(find("x"))).status_code == 200


async def test_keys_that_take_too_many_bytes_are_not_read(report, keys):
    keys.others = [{"key_identifier": "long", "key": "x" * LARGEST_ANSWER}]
    assert (await report(find("x"))).status_code == 503
    keys.others = [{"key_identifier": "long", "key": "x" * (LARGEST_ANSWER // 2)}]
    assert (await report(find("x"))).status_code == 200


async def test_keys_are_fetched_once_and_again_when_a_new_one_is_named(report, keys):
    for _ in range(3):
        assert (await report(find("x"))).status_code == 200
    assert keys.fetches == 1
    assert (await report(find("x"), key=keys.add_key())).status_code == 200
    assert keys.fetches == 2


async def test_strangers_cannot_have_keys_fetched_again_and_again(report, keys):
    await report(find("x"))
    for number in range(10):
        stranger = {"Github-Public-Key-Identifier": f"k{number}", "Github-Public-Key-Signature": "AAAA"}
        assert (await report(find("x"), headers=stranger)).status_code == 401
    assert keys.fetches == 5
    assert (await report(find("x"))).status_code == 200


async def test_while_no_keys_can_be_had_reporters_are_asked_to_come_again(scanned, report, keys):
    tenant = await make_tenant(scanned)
    keys.status = 500
    answer = await report(find(tenant.token))
    assert (answer.status_code, answer.json()["error"]) == (503, "unavailable")
    assert answer.headers["Retry-After"] == "60"
    assert await still_works(scanned, tenant.token)
    keys.status = 200
    assert (await report(find(tenant.token))).status_code == 200
    assert not await still_works(scanned, tenant.token)


async def test_known_keys_outlive_an_outage_of_their_server(report, keys, monkeypatch):
    assert (await report(find("x"))).status_code == 200
    monkeypatch.setattr("oauth.revocation.signed_reports.KEYS_LAST", timedelta())
    keys.status = 500
    assert (await report(find("x"))).status_code == 200
    assert keys.fetches == 2
