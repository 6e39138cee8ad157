"""When a failed delivery is tried again, and to which addresses one is sent."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_address, ip_network

import pytest

from gateway.webhooks.addresses import is_allowed
from gateway.webhooks.retries import GIVE_UP_AFTER, JITTER, next_try

BEGAN = datetime(2026, 3, 1, tzinfo=UTC)
HOUR = 3600
PAUSES = [5, 30, 120, 600, HOUR, 3 * HOUR, 6 * HOUR, 6 * HOUR]


@pytest.mark.parametrize(("attempts", "seconds"), list(enumerate(PAUSES, 1)))
@pytest.mark.parametrize("chance", [0, 1])
def test_pauses_grow_to_six_hours_with_jitter(attempts, seconds, chance):
    due_at = next_try(attempts, BEGAN, BEGAN, chance=lambda: chance)
    assert due_at == BEGAN + timedelta(seconds=seconds * (1 + JITTER * chance))


def test_a_delivery_is_tried_for_three_days():
    moment, attempts = BEGAN, 0
    while moment is not None:
        last, attempts = moment, attempts + 1
        moment = next_try(attempts, BEGAN, moment, chance=lambda: 0.5)
    assert BEGAN + GIVE_UP_AFTER - timedelta(hours=7) < last <= BEGAN + GIVE_UP_AFTER


def test_what_the_receiver_asks_for_is_kept_if_it_is_longer():
    assert next_try(1, BEGAN, BEGAN, 90, lambda: 0) == BEGAN + timedelta(seconds=90)
    assert next_try(4, BEGAN, BEGAN, 90, lambda: 0) == BEGAN + timedelta(seconds=600)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0"),
        *("224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1"),
        *("fc00::1", "fec0::1", "ff02::1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1"),
        *("64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "::8.8.8.8"),
    ],
)
def test_an_address_that_is_not_public_is_refused_unless_an_operator_allows_it(address):
    parsed = ip_address(address)
    assert not is_allowed(parsed)
    assert not is_allowed(parsed, [ip_network("203.0.113.0/24"), ip_network("2001:db8:1::/48")])
    assert is_allowed(parsed, [ip_network(address)])


@pytest.mark.parametrize("address", ["8.8.8.8", "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_a_public_address_is_allowed(address):
    assert is_allowed(ip_address(address))
