"""What contradicts itself cannot be imported: operations, lists, shapes; totals not kept are not told."""

from contextlib import nullcontext
from uuid import uuid4

import pytest
from pydantic import BaseModel

from oauth.principals import Principal, PrincipalKind
from oauth.scopes import Scope
from resolvers.customers.customers import LISTING
from resolvers.operations.declaration import operation_of, requires
from resolvers.operations.rows.access import total_visible
from resolvers.operations.rows.filters import any_of
from resolvers.operations.rows.lists import Listing
from resolvers.operations.shapes.shapes import Shape
from schema.customers.customers import CustomerSorting
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow, MemberRow
from storage.tables.shares.custom_fields import CustomFieldRow

_customers = table_of(CustomerRow)


class Shoe(BaseModel):
    id: str
    size: int


@pytest.mark.parametrize(
    ("scope", "more"),
    [(Scope.SHARES_READ, {}), (None, {}), (Scope.SHARES_WRITE, {"causes": (), "prepare": nullcontext})],
    ids=["a read", "no scope", "work before the change"],
)
def test_what_is_for_owners_and_done_outside_a_change_is_refused(scope, more):
    async def hand_over(ctx): ...

    with pytest.raises(TypeError, match=r"\.hand_over is for owners, which is checked inside its change: "):
        requires(scope, owners_only=True, **more)(hand_over)
    assert operation_of(requires(scope, **more)(hand_over)).owners_only is False
    change = requires(Scope.SHARES_WRITE, owners_only=True, causes=())(hand_over)
    assert operation_of(change).owners_only is True


def test_a_filter_that_is_no_argument_is_refused():
    filters = {"shoe_size": any_of(_customers.c.name)}
    sorted_list = {"sorting": CustomerSorting, "default": "created_at", "filters": filters}
    assert Listing(CustomerRow, **sorted_list).filters is filters
    with pytest.raises(TypeError, match=r"customers and its filters disagree: .*'shoe_size'"):
        Listing(CustomerRow, **sorted_list, query=LISTING.query)


def test_a_field_that_no_part_of_a_row_makes_is_refused():
    with pytest.raises(TypeError, match="Shoe has fields without a source: size"):
        Shape(Shoe, _customers)


def test_a_customer_is_told_no_total_of_what_others_have():
    """It sees no custom fields, and of members those of one customer, whichever it asks for."""
    of_workspace = Principal(PrincipalKind.WORKSPACE_TOKEN, uuid4(), frozenset(), workspace_id=uuid4())
    ids = {"workspace_id": of_workspace.workspace_id, "customer_id": uuid4()}
    customer = Principal(PrincipalKind.CUSTOMER_SESSION, uuid4(), frozenset(), **ids)
    assert total_visible(CustomFieldRow, of_workspace, {}, None) is not None
    assert total_visible(CustomFieldRow, customer, {}, None) is None
    asked = {"customer_id": uuid4()}
    assert total_visible(MemberRow, of_workspace, asked, None) is not None
    assert total_visible(MemberRow, customer, {}, None) is not None
    assert total_visible(MemberRow, customer, asked, None) is None
