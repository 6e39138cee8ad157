"""What is declared in one place and forgotten in another is refused at import, with a sentence."""

from enum import StrEnum
from types import SimpleNamespace

import pytest

from gateway.web.words.scopes import NOUNS, SIGN_IN, WORDS, check_words
from oauth.provider.grants import GRANT_TYPES, OFFERS, CodeGrant, Offer, check_offers
from oauth.scopes import Scope


class Grant(StrEnum):
    """One that a developer has added alone."""

    CLIENT_CREDENTIALS = "client_credentials"


def without(words, key):
    return {other: text for other, text in words.items() if other != key}


def test_a_scope_without_a_line_for_the_consent_page_is_refused():
    words = without(WORDS, Scope.SHARES_READ)
    with pytest.raises(TypeError, match=r"^The scope shares:read has no line .* add it to WORDS of "):
        check_words([Scope.SHARES_READ], words)


@pytest.mark.parametrize("scope", [Scope.METRICS_READ, Scope.ACCESS_TOKENS_WRITE])
def test_a_scope_whose_noun_has_no_name_is_refused(scope):
    noun = scope.partition(":")[0]
    with pytest.raises(
        TypeError, match=rf"The scope {scope} has no name in forms: add '{noun}' to NOUNS of "
    ):
        check_words([scope], nouns=without(NOUNS, noun))


def test_a_scope_of_openid_connect_without_a_name_is_refused():
    with pytest.raises(TypeError, match=r"^The scope email has no name in forms: add it to SIGN_IN"):
        check_words([Scope.EMAIL], sign_in=without(SIGN_IN, Scope.EMAIL))


def test_a_grant_type_without_a_class_is_refused():
    with pytest.raises(TypeError, match="No class answers the grant type client_credentials: add one"):
        check_offers([*GRANT_TYPES, Grant.CLIENT_CREDENTIALS])


def test_a_grant_type_with_the_class_of_another_is_refused():
    offers = {**OFFERS, Grant.CLIENT_CREDENTIALS: Offer(CodeGrant, "its secret")}
    with pytest.raises(TypeError, match="No class answers the grant type client_credentials"):
        check_offers([Grant.CLIENT_CREDENTIALS], offers)


def test_a_grant_type_without_words_is_refused():
    grant = SimpleNamespace(GRANT_TYPE="client_credentials")
    with pytest.raises(TypeError, match=r"^Say in OFFERS of oauth\.provider\.grants what a client exchanges"):
        check_offers([Grant.CLIENT_CREDENTIALS], {Grant.CLIENT_CREDENTIALS: Offer(grant, "")})
