"""The rooms of the tree: how many modules each folder has, and that no folder needs one that needs it."""

from collections import Counter
from graphlib import TopologicalSorter

import grimp
import pytest

from gateway.cli.main import ROOMS
from tests.project.test_architecture import OURS, PACKAGES, ROOT

FOLDERS = Counter(path.parent for path in OURS if path.name != "__init__.py")


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """The modules that each module imports, also within functions."""
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in sorted(graph.modules)}


def test_a_folder_has_at_most_16_modules():
    assert [folder.relative_to(ROOT).as_posix() for folder, modules in FOLDERS.items() if modules > 16] == []


def test_no_folder_needs_one_that_needs_it(imports):
    """The modules directly in a package are a room too: all above its other rooms, or all below them."""
    needs = {room_of(module): set() for module in imports}
    for module, imported in imports.items():
        needs[room_of(module)] |= {room_of(other) for other in imported} - {room_of(module)}
    # Raises an error that shows the circle.
    assert set(TopologicalSorter(needs).static_order()) == needs.keys()


def test_the_work_of_a_command_is_in_the_room_of_its_declaration():
    commands = (ROOT / "gateway/cli/commands").rglob("*.py")
    declared = {path.stem: path.parent.name for path in commands if path.name != "__init__.py"}
    assert declared == ROOMS
    assert all((ROOT / "gateway/cli" / room / f"{noun}.py").exists() for noun, room in ROOMS.items())


def room_of(module: str) -> str:
    """The folder of a module; a package, which is an empty module, is its own."""
    is_package = (ROOT / module.replace(".", "/") / "__init__.py").exists()
    return module if is_package else module.rpartition(".")[0]
