"""Who makes a change, as the change log names them."""

from typing import Protocol

from oauth.principals import Principal, PrincipalKind
from storage.changes.log import Actor
from storage.enums import ActorKind


class Calling(Protocol):
    """Who calls an operation."""

    principal: Principal | None
    is_operator: bool


def actor_of(caller: Calling) -> Actor:
    """The actor of what a caller changes; without a credential, the service itself."""
    principal = caller.principal
    if caller.is_operator:
        return Actor(ActorKind.OPERATOR)
    if principal is None:
        return Actor(ActorKind.SYSTEM)
    if principal.customer_id is not None:
        return Actor(ActorKind.CUSTOMER, principal.customer_id)
    if principal.kind is PrincipalKind.WORKSPACE_TOKEN:
        return Actor(ActorKind.WORKSPACE_TOKEN, principal.credential_id)
    if principal.kind is PrincipalKind.OAUTH_TOKEN:
        return Actor(ActorKind.OAUTH_CLIENT, principal.oauth_client_id)
    return Actor(ActorKind.USER, principal.user_id)
