"""The table of `make coverage`."""

from tests.project.coverage_table import table


def file(branches: int, covered: int) -> dict[str, dict[str, int]]:
    return {"summary": {"num_branches": branches, "covered_branches": covered}}


def test_branches_are_added_up_by_package() -> None:
    files = {
        "storage/rows/rows.py": file(10, 8),
        "storage/rows/ordering.py": file(10, 9),
        "gateway/web/records/kit/forms.py": file(20, 20),
        "schema/errors.py": file(0, 0),
    }
    assert list(table({"files": files}))[2:] == [
        "| gateway/web | 20 | 100.0% |",
        "| schema | 0 | - |",
        "| storage/rows | 20 | 85.0% |",
        "| all | 40 | 92.5% |",
    ]
