"""Sort keys: each is declared once, and a list that does not have them all cannot be imported."""

import pytest

from resolvers.operations.rows.lists import Listing
from schema.customers.customers import CustomerSorting
from schema.kit.sorting import Sorting
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow

NAME = table_of(CustomerRow).c.name_folded


def test_each_key_has_a_descending_twin():
    assert {member.name: member.value for member in CustomerSorting} == {
        "CREATED_AT": "created_at",
        "CREATED_AT_DESC": "-created_at",
        "MODIFIED_AT": "modified_at",
        "MODIFIED_AT_DESC": "-modified_at",
        "EMAIL": "email",
        "EMAIL_DESC": "-email",
        "NAME": "name",
        "NAME_DESC": "-name",
    }


class AgeSorting(Sorting, keys=("created_at", "age")): ...


@pytest.mark.parametrize(
    ("sorting", "default", "columns", "named"),
    [
        (AgeSorting, "created_at", {}, r"without a column \['age'\]"),
        (CustomerSorting, "created_at", {"shoe_size": NAME}, r"without a sort key \['shoe_size'\]"),
        (CustomerSorting, "shoe_size", {}, "default 'shoe_size'"),
    ],
)
def test_a_list_whose_columns_and_sort_keys_disagree_is_rejected(sorting, default, columns, named):
    with pytest.raises(TypeError, match=named):
        Listing(CustomerRow, sorting, default=default, columns=columns)
