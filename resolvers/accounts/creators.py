"""The user who is recorded as the creator of a resource."""

from uuid import UUID

from oauth.principals import Principal


def creator_of(principal: Principal) -> UUID | None:
    """The user recorded as creator of what the principal creates; for a token, the token's creator."""
    return principal.user_id or principal.maker_user_id
