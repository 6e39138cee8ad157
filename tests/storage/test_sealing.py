"""Attacks on signatures and sealed texts: none is valid for another purpose, subject or secret."""

import hmac
from base64 import b64decode, b64encode, urlsafe_b64encode
from contextlib import suppress
from hashlib import blake2b
from itertools import permutations

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from hypothesis import given
from hypothesis import strategies as st

from storage.sealing import (
    Purpose,
    Secret,
    Unreadable,
    is_signed,
    read_signed,
    seal,
    sealed_anew,
    sign,
    signed,
    tagger,
    unseal,
)

SECRET = b"a secret of the tests, 32 characters"
BOTH = Secret(b"the secret that replaces it, 32 characters", [SECRET])
PURPOSES = st.sampled_from(Purpose)
TEXTS = st.text()


@given(PURPOSES, st.lists(TEXTS, max_size=3), st.text(min_size=50, max_size=150))
def test_a_signature_is_the_hmac_of_the_parts_and_their_lengths(purpose, short, long):
    derivation = HKDF(SHA256(), length=32, salt=None, info=f"sign {purpose}".encode())
    contents = [part.encode("utf-8", "surrogatepass") for part in (*short, long)]
    content = b"".join(len(part).to_bytes(8) + part for part in contents)
    expected = urlsafe_b64encode(hmac.digest(derivation.derive(SECRET), content, "sha256"))
    assert sign(SECRET, purpose, *short, long) == expected.rstrip(b"=").decode()


def test_no_two_purposes_share_a_signature_or_a_key():
    shared = []
    for one, other in permutations(Purpose, 2):
        same = sign(SECRET, one, "x") == sign(SECRET, other, "x")
        if same or read_signed(SECRET, other, signed(SECRET, one, "x")) is not None:
            shared.append((one, other, "signature"))
        with suppress(Unreadable):
            unseal(SECRET, other, seal(SECRET, one, b"x", ""), "")
            shared.append((one, other, "key"))
    assert shared == []


@given(PURPOSES, st.lists(TEXTS), st.lists(TEXTS))
def test_parts_cannot_be_shifted_into_each_other(purpose, parts, others):
    assert (sign(SECRET, purpose, *parts) == sign(SECRET, purpose, *others)) == (parts == others)


@given(PURPOSES, TEXTS, TEXTS)
def test_a_signed_text_is_read_again_about_the_same_thing_only(purpose, text, about):
    made = signed(SECRET, purpose, text, about)
    assert read_signed(SECRET, purpose, made, about) == text
    assert read_signed(SECRET, purpose, made, about + "x") is None
    assert read_signed(SECRET, purpose, made) is None
    assert read_signed(b"another secret", purpose, made, about) is None


@given(PURPOSES, TEXTS, st.data())
def test_a_signed_text_cannot_be_altered(purpose, text, data):
    made = signed(SECRET, purpose, text)
    place = data.draw(st.integers(0, len(made) - 1))
    character = data.draw(st.characters().filter(lambda character: character != made[place]))
    assert read_signed(SECRET, purpose, made[:place] + character + made[place + 1 :]) is None
    assert read_signed(SECRET, purpose, made[:place]) is None


@given(PURPOSES, st.lists(TEXTS, max_size=3), st.lists(st.text(alphabet=st.characters(codec="utf-8"))))
def test_a_tag_is_the_keyed_blake2b_of_what_texts_are_about_and_the_text(purpose, about, texts):
    key = HKDF(SHA256(), length=32, salt=None, info=f"tag {purpose}".encode()).derive(SECRET)
    parts = [part.encode("utf-8", "surrogatepass") for part in about]
    beginning = len(parts).to_bytes(8) + b"".join(len(part).to_bytes(8) + part for part in parts)
    made = [
        b".".join(
            urlsafe_b64encode(content).rstrip(b"=")
            for content in (text, blake2b(beginning + text, key=key, digest_size=16).digest())
        ).decode()
        for text in (text.encode() for text in texts)
    ]
    assert tagger(SECRET, purpose, *about)(text.encode() for text in texts) == made
    assert [read_signed(BOTH, purpose, each, *about) for each in made] == texts


@given(PURPOSES, st.text(st.characters(codec="utf-8")), TEXTS, st.data())
def test_a_tagged_text_is_read_unaltered_and_about_the_same_thing_only(purpose, text, about, data):
    (made,) = tagger(SECRET, purpose, about)([text.encode()])
    other = data.draw(PURPOSES.filter(lambda other: other != purpose))
    place = data.draw(st.integers(0, len(made) - 1))
    character = data.draw(st.characters().filter(lambda character: character != made[place]))
    attempts = [
        (SECRET, purpose, made, about + "x"),
        (SECRET, purpose, made, about, ""),
        (SECRET, purpose, made),
        (SECRET, other, made, about),
        (b"another secret", purpose, made, about),
        (SECRET, purpose, made[:place] + character + made[place + 1 :], about),
        (SECRET, purpose, made[:place], about),
    ]
    assert [read_signed(*attempt) for attempt in attempts] == [None] * len(attempts)


@given(TEXTS)
def test_what_was_never_signed_is_not_read(text):
    assert read_signed(SECRET, Purpose.NOTICE, text) is None
    assert not is_signed(SECRET, Purpose.NOTICE, text, "x")
    with pytest.raises(Unreadable):
        unseal(SECRET, Purpose.IDEMPOTENT_ANSWER, text, "")


@given(PURPOSES, st.binary(), TEXTS, st.data())
def test_a_sealed_text_opens_unaltered_and_about_the_same_thing_only(purpose, plain, about, data):
    sealed = seal(SECRET, purpose, plain, about)
    assert unseal(SECRET, purpose, sealed, about) == plain
    beginning, _, content = sealed.rpartition(".")
    flipped = bytearray(b64decode(content))
    flipped[data.draw(st.integers(0, len(flipped) - 1))] ^= data.draw(st.integers(1, 255))
    for attempt in (
        (SECRET, purpose, f"{beginning}.{b64encode(flipped).decode()}", about),
        (SECRET, purpose, sealed.replace("A256GCM", "A128GCM"), about),
        (SECRET, purpose, f"x{sealed}", about),
        (SECRET, purpose, sealed, about + "x"),
        (b"another secret", purpose, sealed, about),
    ):
        with pytest.raises(Unreadable):
            unseal(*attempt)


def test_equal_texts_are_sealed_under_nonces_of_their_own():
    texts = [seal(SECRET, Purpose.IDEMPOTENT_ANSWER, b"equal", "") for _ in range(100)]
    sealed = [b64decode(text.rpartition(".")[2]) for text in texts]
    assert len({text[:12] for text in sealed}) == 100
    assert len({text[12:] for text in sealed}) == 100


def test_signing_keys_sealed_before_there_were_purposes_are_readable():
    key = HKDF(SHA256(), length=32, salt=None, info=b"duograph signing keys").derive(SECRET)
    sealed = b64encode(bytes(12) + AESGCM(key).encrypt(bytes(12), b"a private key", b"kid")).decode()
    assert unseal(SECRET, Purpose.SIGNING_KEY, sealed, "kid") == b"a private key"


@given(PURPOSES, TEXTS, st.binary())
def test_what_an_accepted_key_made_is_accepted_and_the_current_key_makes_what_is_new(purpose, text, plain):
    assert read_signed(BOTH, purpose, signed(SECRET, purpose, text)) == text
    assert read_signed(SECRET, purpose, signed(BOTH, purpose, text)) is None
    assert unseal(BOTH, purpose, seal(SECRET, purpose, plain, text), text) == plain
    with pytest.raises(Unreadable):
        unseal(SECRET, purpose, seal(BOTH, purpose, plain, text), text)


def test_a_text_that_is_sealed_anew_needs_the_accepted_key_no_more():
    old = seal(SECRET, Purpose.TOTP, b"plain", "about")
    new = sealed_anew(BOTH, Purpose.TOTP, old, "about")
    assert unseal(bytes(BOTH), Purpose.TOTP, new, "about") == b"plain"
    assert sealed_anew(BOTH, Purpose.TOTP, new, "about") == new
    with pytest.raises(Unreadable):
        sealed_anew(BOTH, Purpose.TOTP, old, "another")


def test_a_sealed_text_names_its_algorithm_and_key_and_tells_nothing_of_the_key():
    first, second = (seal(SECRET, purpose, b"", "").split(".") for purpose in (Purpose.TOTP, Purpose.FORM))
    other = seal(bytes(BOTH), Purpose.TOTP, b"", "").split(".")
    assert first[:2] == second[:2]
    assert (first[0], len(first[1]), first[1] != other[1]) == ("A256GCM", 8, True)
    assert bytes.fromhex(first[1]) not in SECRET
