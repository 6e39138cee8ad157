"""The choice of scopes in forms: for each noun none, read or write, or a preset for all of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gateway.web.kit.forms import Form
from gateway.web.words.scopes import NOUNS, SIGN_IN
from oauth.scopes import OPENID_SCOPES, Scope

EVERYTHING, READ_ONLY, CHOSEN = "everything", "read", "chosen"
NONE = ("", "None")


@dataclass(frozen=True)
class Level:
    """What a noun's radio button gives; `value` is a scope, empty for none."""

    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True)
class NounChoice:
    """The choice for a noun; `name` is its field. `levels` are none and one or both of read and write."""

    name: str
    label: str
    hint: str
    levels: Sequence[Level]


@dataclass(frozen=True)
class ScopeChoice:
    """All that a form lets choose from. `sign_in` are the scopes of OpenID Connect, each for itself."""

    access: str
    nouns: Sequence[NounChoice]
    sign_in: Sequence[Level]


def scope_choice(form: Form, scopes: frozenset[Scope]) -> ScopeChoice:
    """The choice from `scopes` as the form has it: sent, or made with a list named `scopes`."""
    chosen = set(_entered(form, scopes))
    sign_in = [
        Level(scope.value, SIGN_IN[scope], scope.value in chosen)
        for scope in Scope
        if scope in scopes & OPENID_SCOPES
    ]
    nouns = [_noun_choice(noun, offered, chosen) for noun, offered in _by_noun(scopes).items()]
    return ScopeChoice(_access(form), nouns, sign_in)


def chosen_scopes(form: Form, scopes: frozenset[Scope]) -> list[str]:
    """The scopes that the sent form chooses from `scopes`.

    A write scope comes with its read scope: an application may request only scopes that its client lists.
    """
    access = _access(form)
    if access == EVERYTHING:
        return in_order(scopes)
    if access == READ_ONLY:
        return in_order(scope for scope in scopes if not scope.writes)
    entered = _entered(form, scopes)
    implied = [scope.removesuffix(":write") + ":read" for scope in entered if scope.endswith(":write")]
    return list(dict.fromkeys([*entered, *(scope for scope in implied if scope in scopes)]))


def _access(form: Form) -> str:
    access = form.raw("access")
    return access if access in (EVERYTHING, READ_ONLY) else CHOSEN


def _entered(form: Form, scopes: frozenset[Scope]) -> list[str]:
    fields = ["scopes", *map(_field, _by_noun(scopes))]
    return [value for name in fields for value in form.all(name) if value]


def _noun_choice(noun: str, offered: Sequence[Scope], chosen: set[str]) -> NounChoice:
    label, hint = NOUNS[noun]
    # Write includes read, so the widest that is chosen counts.
    widest = next((scope.value for scope in reversed(offered) if scope.value in chosen), "")
    options = [NONE, *((scope.value, "Write" if scope.writes else "Read") for scope in offered)]
    return NounChoice(_field(noun), label, hint, [Level(*each, each[0] == widest) for each in options])


def _by_noun(scopes: frozenset[Scope]) -> dict[str, list[Scope]]:
    """The scopes of each noun, read before write, in the order of declaration."""
    nouns: dict[str, list[Scope]] = {}
    for scope in Scope:
        if scope in scopes - OPENID_SCOPES:
            nouns.setdefault(scope.value.partition(":")[0], []).append(scope)
    return nouns


def _field(noun: str) -> str:
    return f"scopes.{noun}"


def in_order(scopes: Iterable[str]) -> list[str]:
    """The scopes in the order of their declaration."""
    given = frozenset(scopes)
    return [scope.value for scope in Scope if scope in given]
