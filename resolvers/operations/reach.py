"""What a caller may hand on: no more than its own credential has."""

from collections.abc import Iterable

from oauth.principals import Principal
from oauth.scopes import Scope, covers
from schema.errors import Invalid, Location, problem


def check_reach(principal: Principal, scopes: Iterable[str], why: str, loc: Location) -> None:
    """Raises `Invalid` if the caller's credential lacks scopes; `why` goes on about them in the sentence."""
    lacking = [scope for scope in scopes if not covers(principal.scopes, Scope(scope))]
    if lacking:
        names = ", ".join(f"`{scope}`" for scope in lacking)
        raise Invalid([problem(loc, f"Your own credential does not have {names}, {why}", "wider")])
