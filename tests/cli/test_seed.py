"""Demo data from the command line."""

from tests.cli.command import Command


def test_each_seed_is_a_workspace_of_its_own_with_all_that_opens_it(empty: Command) -> None:
    first, second = empty.json("seed"), empty.json("seed")
    assert first.keys() == {"workspace", "workspace_token", "user", "personal_token"}
    assert first["user"].keys() == {"email", "password"}
    assert (first["workspace"]["slug"], first["workspace"]["status"]) == ("demo", "active")
    assert second["workspace"]["slug"].startswith("demo-")
    assert first["user"]["password"] != second["user"]["password"]
    assert first["workspace_token"].startswith("dg_wat_")
    assert first["personal_token"].startswith("dg_pat_")
    listed = {token["workspace"] for token in empty.json("tokens", "list")["tokens"]}
    assert listed == {None, "demo", second["workspace"]["slug"]}
