"""Every change of a resource that exists has a new one to change in each case."""

import pytest

from tests.parity.cases import OPERATIONS
from tests.parity.subjects import SUBJECTS

# They add to what they name and leave it as it is.
ADDING = {"copy_workspace", "download_portal_file", "register_oauth_client_documents"}


def without_subject(subjects):
    """The operations that change the resource that they name, and have none."""
    changes = {name for name in OPERATIONS if not name.startswith(("get_", "list_"))}
    named = {name for name in changes if any(each.name == "id" for each in OPERATIONS[name].parameters)}
    return named - ADDING - subjects.keys()


@pytest.mark.parametrize("forgotten", ["update_share", "delete_file"])
def test_an_operation_without_a_subject_is_found(forgotten):
    assert without_subject({name: SUBJECTS[name] for name in SUBJECTS if name != forgotten}) == {forgotten}


def test_each_change_has_a_new_resource_to_change():
    missing = sorted(without_subject(SUBJECTS))
    assert not missing, f"Say in SUBJECTS of tests/parity/subjects.py what each of these changes: {missing}"
    unknown = sorted(SUBJECTS.keys() - OPERATIONS.keys())
    assert not unknown, f"No operation has these names of tests/parity/subjects.py: {unknown}"
