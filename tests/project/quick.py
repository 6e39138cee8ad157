"""`python -m tests.project.quick`: lint, types and tests of what changed since main, and of what imports it.

The whole suite is `make test`. Tests are chosen by imports and by names: those of `resolvers/shares` are in
`tests/shares`.
"""

import ast
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway", "rest_compat", "resolvers", "schema", "oauth", "storage")
# Packages that more import than this are the base of everything: only `make test` has all of their tests.
MOST_IMPORTERS = 4
# These run programs, browsers or other projects' tools for minutes: only if they changed themselves.
SLOW = ("tests/cli", "tests/clients", "tests/deploy", "tests/faults", "tests/growth", "tests/guides")
IN_BROWSER = ("in_browser.py", "test_every_page.py", "test_wheel.py", "test_locks.py")
Read = Callable[[str], str]


def changed_files() -> list[str]:
    """The files that differ from where the branch left main, also uncommitted and new ones."""
    base = _git("merge-base", "main", "HEAD") or ["HEAD"]
    names = {*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")}
    return sorted(name for name in names if (ROOT / name).exists())


def tests_of(changed: Collection[str], files: Collection[str], read: Read) -> list[str]:
    """The test files to run, of `files`, which are all modules; `read` gives a module's source."""
    imports = {name: set(_imports(read(name))) for name in files}
    modules = {_module(name) for name in changed if name.startswith(PACKAGES) and name.endswith(".py")}
    importers = {
        name
        for name in files
        if name.startswith(PACKAGES) and name not in changed and imports[name] & modules
    }
    packages = {str(Path(name).parent) for name in importers}
    nouns = {noun for module in modules for noun in module.split(".")[1:]}
    if len(packages) <= MOST_IMPORTERS:
        nouns |= {noun for name in importers for noun in _module(name).split(".")[1:]}
    tests = [name for name in files if Path(name).name.startswith("test_")]
    helpers = {_module(name) for name in changed if name.startswith("tests/")}
    return [
        name for name in tests if name in changed or _is_chosen(name, imports[name], modules | helpers, nouns)
    ]


def _is_chosen(name: str, imports: set[str], modules: set[str], nouns: set[str]) -> bool:
    if name.startswith(SLOW) or name.endswith(IN_BROWSER):
        return False
    return bool(imports & modules) or Path(name).parent.name in nouns


def _imports(source: str) -> Iterator[str]:
    """The modules that a source names; of `from a import b`, both `a` and `a.b`."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _module(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split()


def main() -> int:
    """The exit code of the first step that fails."""
    changed = changed_files()
    modules = [name for name in changed if name.endswith(".py")]
    files = [name for name in {*_git("ls-files", "*.py"), *modules} if (ROOT / name).exists()]
    tests = sorted(tests_of(changed, files, lambda name: (ROOT / name).read_text()))
    sys.stdout.write(f"{len(changed)} files changed; {len(tests)} files of tests.\n")
    return next((code for code in map(_run, _steps(modules, tests)) if code), 0)


def _steps(modules: Sequence[str], tests: Sequence[str]) -> Iterator[list[str]]:
    if modules:
        yield ["ruff", "check", "--quiet", *modules]
        yield ["ruff", "format", "--check", "--quiet", *modules]
        yield ["mypy"]
    ours = [name for name in modules if name.startswith(PACKAGES)]
    if ours:
        yield ["tests.project.columns", *ours]
    if tests:
        yield ["pytest", "-q", "-n", "0" if len(tests) == 1 else "auto", *tests]


def _run(step: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", *step], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
