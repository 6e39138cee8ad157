"""Whose requests share connections to the database, so that nobody takes those of others."""

from uuid import UUID

from oauth.principals import Principal, PrincipalKind

ONE, OTHER = UUID(int=1), UUID(int=2)


def key(kind, **columns):
    return Principal(kind, UUID(int=9), frozenset(), **columns).pool_key


def test_all_clients_of_an_owner_share_connections_with_its_tokens():
    tokens = [key(PrincipalKind.WORKSPACE_TOKEN, workspace_id=id) for id in (ONE, OTHER)]
    clients = [
        key(PrincipalKind.OAUTH_TOKEN, workspace_id=id, client_id=client)
        for id in (ONE, OTHER)
        for client in ("a", "b")
    ]
    assert clients == [tokens[0], tokens[0], tokens[1], tokens[1]]
    assert tokens[0] != tokens[1]


def test_customers_of_a_workspace_share_connections_that_its_tokens_do_not_use():
    customers = {
        key(PrincipalKind.CUSTOMER_SESSION, workspace_id=ONE, customer_id=UUID(int=number))
        for number in range(3)
    }
    assert len(customers) == 1
    assert key(PrincipalKind.CUSTOMER_SESSION, workspace_id=OTHER, customer_id=ONE) not in customers
    assert key(PrincipalKind.WORKSPACE_TOKEN, workspace_id=ONE) not in customers
