"""Whom a request is charged to, whatever its X-Forwarded-For says."""

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.http import addresses as addresses_module
from gateway.http.addresses import ClientAddresses, client_subject
from gateway.settings.values.types import parse_trusted

TRUSTED = parse_trusted("10.0.0.0/8, 192.0.2.1, 2001:db8:ffff::/48")
CLIENT = "203.0.113.7"
PROXY = "10.0.0.1"


def test_without_proxies_the_peer_is_charged():
    assert client_subject(CLIENT, [], ()) == "address:203.0.113.7"


def test_forwarded_entries_of_an_untrusted_peer_are_ignored():
    assert client_subject(CLIENT, ["198.51.100.1"], TRUSTED) == "address:203.0.113.7"
    assert client_subject(PROXY, ["198.51.100.1"], ()) == "address:10.0.0.1"


@pytest.mark.parametrize(
    ("forwarded_for", "subject"),
    [
        (["203.0.113.7"], "address:203.0.113.7"),
        (["198.51.100.1, 203.0.113.7"], "address:203.0.113.7"),
        (["198.51.100.1, 203.0.113.7, 10.2.3.4, 192.0.2.1"], "address:203.0.113.7"),
        (["198.51.100.1", "203.0.113.7", "10.2.3.4"], "address:203.0.113.7"),
        (["198.51.100.1", "203.0.113.7, 2001:db8:ffff::9"], "address:203.0.113.7"),
        ([" 203.0.113.7 ,, ", ""], "address:203.0.113.7"),
    ],
)
def test_behind_trusted_proxies_the_rightmost_other_entry_is_charged(forwarded_for, subject):
    assert client_subject(PROXY, forwarded_for, TRUSTED) == subject


def test_a_chain_of_proxies_only_is_charged_to_its_far_end():
    assert client_subject(PROXY, ["10.0.0.3, 10.0.0.2"], TRUSTED) == "address:10.0.0.3"
    assert client_subject(PROXY, [], TRUSTED) == "address:10.0.0.1"


@pytest.mark.parametrize(
    "garbage",
    ["unknown", "_hidden", "1.2.3", "1.2.3.4:port", "[::1", "[::1]x", "[::1]:", "\ud800", "1.2.3.4/8"],
)
def test_an_entry_that_is_no_address_ends_the_walk_at_the_last_good_one(garbage):
    assert client_subject(PROXY, [f"203.0.113.7, {garbage}, 10.0.0.2"], TRUSTED) == "address:10.0.0.2"
    assert client_subject(PROXY, [f"203.0.113.7, {garbage}"], TRUSTED) == "address:10.0.0.1"


@pytest.mark.parametrize(
    ("entry", "subject"),
    [
        ("203.0.113.7:5678", "address:203.0.113.7"),
        ('"203.0.113.7:5678"', "address:203.0.113.7"),
        ("[2001:db8:1:2::7]:80", "address:2001:db8:1:2::/64"),
        ("[2001:db8:1:2::7]", "address:2001:db8:1:2::/64"),
        ("2001:DB8:1:2:aaaa:bbbb:cccc:dddd", "address:2001:db8:1:2::/64"),
        ("::ffff:203.0.113.7", "address:203.0.113.7"),
        ("[::ffff:203.0.113.7]:80", "address:203.0.113.7"),
        ("fe80::1%eth0", "address:fe80::/64"),
    ],
)
def test_ports_are_stripped_and_ipv6_is_reduced_to_its_network(entry, subject):
    assert client_subject(entry, [], ()) == subject
    assert client_subject(PROXY, [entry], TRUSTED) == subject


def test_a_proxy_that_connects_from_a_mapped_address_is_trusted():
    assert client_subject("::ffff:10.0.0.1", [CLIENT], TRUSTED) == "address:203.0.113.7"
    assert client_subject(PROXY, [CLIENT], parse_trusted("::ffff:10.0.0.0/104")) == "address:203.0.113.7"


@pytest.mark.parametrize("peer", [None, "", "testclient", "/run/duograph.sock"])
def test_a_peer_without_an_address_is_charged_as_unknown(peer):
    assert client_subject(peer, [CLIENT], TRUSTED) == "address:unknown"


@pytest.mark.parametrize("text", ["", " ", " , "])
def test_an_empty_text_trusts_no_proxy(text):
    assert parse_trusted(text) == ()


@pytest.mark.parametrize("part", ["10.0.0.1/8", "*", "proxy.example", "10.0.0.0/33", "10.0.0.0 10.0.0.1"])
def test_what_is_no_network_is_refused_by_name(part):
    with pytest.raises(ValueError, match=r"DUOGRAPH_TRUSTED_PROXIES: .* is not a network") as refusal:
        parse_trusted(f"127.0.0.1, {part}")
    assert repr(part) in str(refusal.value)


addresses = st.ip_addresses().map(str)
entries = st.one_of(
    addresses, st.text(max_size=30), st.sampled_from(["[", "]:", ":", "::1%", "1.2.3.4:", '"'])
)
proxies = st.one_of(
    st.ip_addresses(network="10.0.0.0/8"), st.ip_addresses(network="2001:db8:ffff::/48"), st.just("192.0.2.1")
).map(str)


@given(st.none() | entries, st.lists(entries), st.booleans())
def test_no_input_raises(peer, forwarded_for, behind_proxies):
    subject = client_subject(peer, forwarded_for, TRUSTED if behind_proxies else ())
    kind, _, value = subject.partition(":")
    assert kind == "address"
    assert value == "unknown" or ip_address(value.removesuffix("/64"))


@given(st.lists(entries), addresses, st.lists(proxies), proxies)
def test_what_is_left_of_the_client_changes_nothing(spoofed, client, chain, peer):
    told = client_subject(peer, [",".join([client, *chain])], TRUSTED)
    in_networks = any(ip_address(client) in network for network in TRUSTED)
    if not in_networks:
        assert told == client_subject(client, [], ())
        assert client_subject(peer, [*spoofed, client, *chain], TRUSTED) == told


@given(st.lists(entries), addresses)
def test_an_untrusted_peer_cannot_charge_another(spoofed, peer):
    assert client_subject(peer, spoofed, ()) == client_subject(peer, [], ())


def test_what_was_read_of_a_header_is_kept_for_the_next_request_and_not_without_an_end(monkeypatch):
    read = []

    def counted(*arguments):
        read.append(arguments)
        return client_subject(*arguments)

    # The reading itself is what is saved.
    monkeypatch.setattr(addresses_module, "client_subject", counted)
    monkeypatch.setattr(addresses_module, "MOST_KEPT", 2)
    addresses = ClientAddresses(TRUSTED)

    def subject_of(forwarded):
        headers = [(b"x-forwarded-for", forwarded)]
        return addresses.of({"client": (PROXY, 1), "headers": headers}, dict(headers))

    def readings_of(*headers):
        before = len(read)
        told = [subject_of(header) for header in headers]
        assert told == [f"address:{header.decode().rpartition(' ')[2]}" for header in headers]
        return len(read) - before

    one, two, three = b"203.0.113.1", b"203.0.113.2", b"203.0.113.3"
    assert readings_of(one, two, one, two) == 2
    # There is room for two, and none is made by a third before it comes.
    assert readings_of(three, three, one) == 2
    long = b"198.51.100.1, " * 20 + one
    assert readings_of(long, long) == 2
