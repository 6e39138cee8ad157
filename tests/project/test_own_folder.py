"""Failed runs of the tests leave their files for a look, and not for ever."""

import os
from fcntl import LOCK_EX, flock

from tests.support.plugins.own_folder import remove_all_but_the_newest


def test_only_the_newest_folders_of_runs_that_ended_stay(tmp_path):
    for number in range(6):
        folder = tmp_path / f"tests-{number}"
        folder.mkdir()
        (folder / ".running").touch()
        os.utime(folder / ".running", (number, number))
    (tmp_path / "tests-of-somebody-else").mkdir()
    with (tmp_path / "tests-1/.running").open() as running:
        flock(running, LOCK_EX)
        remove_all_but_the_newest(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {
        *("tests-1", "tests-3", "tests-4", "tests-5"),
        "tests-of-somebody-else",
    }
