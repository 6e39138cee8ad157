"""`python -m tests.project.quick`: in 15 s lint, types and the tests nearest to what changed since main.

The whole suite is `make test`. Tests are chosen by imports and by names: those of `resolvers/shares` are in
`tests/shares`, one of `dashboard.html` is `test_dashboard_layout`.
"""

import re
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("gateway/", "rest_compat/", "resolvers/", "schema/", "oauth/", "storage/")
SECONDS = 15
# What the last test takes, and pytest after it.
SECONDS_TO_END = 4
# More do not begin in time, but would be imported.
FILES_A_SECOND = 2
# What imports the change is one away from it, what imports that is two.
FARTHEST = 2
# One of these takes seconds, by a program, a browser or a large table: only if named after the change.
SLOW = (
    "tests/cli/",
    "tests/clients/",
    "tests/deploy/",
    "tests/faults/",
    "tests/gateway/test_slow_statements.py",
    "tests/growth/",
    "tests/guides/",
    "tests/project/test_locks.py",
    "tests/project/test_private_names.py",
    "tests/project/test_release.py",
    "tests/project/test_wheel.py",
    "tests/storage/test_data_classes.py",
    "tests/storage/test_online_migrations.py",
    "tests/storage/test_replicas.py",
    "tests/storage/test_searching.py",
    "tests/surfaces/test_log_secrecy.py",
    "tests/surfaces/test_unstorable_texts.py",
    "tests/totals/test_old_gateways.py",
)
# So do these, unless a template, a script or a style sheet changed.
IN_BROWSER = ("in_browser.py", "test_every_page.py")
# A syntax tree of every module takes a second.
_IMPORT = re.compile(r"^\s*(?:from ([\w.]+) import (\([^)]*\)|[^\n]*)|import ([^\n]*))", re.MULTILINE)
Read = Callable[[str], str]


def changed_files() -> list[str]:
    """The files that differ from where the branch left main, also uncommitted and new ones."""
    base = _git("merge-base", "main", "HEAD") or ["HEAD"]
    names = {*_git("diff", "--name-only", base[0]), *_git("ls-files", "--others", "--exclude-standard")}
    return sorted(name for name in names if (ROOT / name).exists())


def nearest_tests(changed: Collection[str], files: Collection[str], read: Read) -> list[str]:
    """The test files to run, of `files`, the nearest to what changed first; `read` gives the text of a file.

    Test files that changed come first. Then, at each distance from the change, those that are named after
    what is there, those that import it, and those in a folder of its name.
    """
    texts = {name: read(name) for name in files}
    imports = {name: set(_imports(text)) for name, text in texts.items() if name.endswith(".py")}
    circles = list(_circles(changed, texts, imports))
    has_resources = any(name.startswith(PACKAGES) and not name.endswith(".py") for name in changed)
    near = []
    for name, imported in imports.items():
        if not Path(name).name.startswith("test_"):
            continue
        rank = 0 if name in changed else next(_ranks(name, imported, circles), None)
        in_browser = name.endswith(IN_BROWSER)
        slow = in_browser or name.startswith(SLOW)
        if rank is not None and (rank < 2 or not slow or (in_browser and has_resources)):
            near.append((rank, slow, name))
    return [name for _, _, name in sorted(near)]


def _circles(
    changed: Collection[str], texts: Mapping[str, str], imports: Mapping[str, set[str]]
) -> Iterator[Collection[str]]:
    """What changed, then what imports or names that, then what imports or names this."""
    circle = {name for name in changed if name.startswith((*PACKAGES, "tests/"))}
    seen = set(circle)
    yield circle
    for _ in range(FARTHEST):
        modules = {_module(name) for name in circle}
        resources = {Path(name).name for name in circle if not name.endswith(".py")}
        circle = {
            name
            for name, text in texts.items()
            if name.startswith(PACKAGES)
            and name not in seen
            and (imports.get(name, set()) & modules or any(resource in text for resource in resources))
        }
        seen |= circle
        yield circle


def _ranks(test: str, imports: set[str], circles: Sequence[Collection[str]]) -> Iterator[int]:
    """How far a test is from each circle that it is near to."""
    words = _words(Path(test).stem)
    folder = _words(Path(test).parent.name)
    for distance, circle in enumerate(circles):
        if any(_is_named_after(words, name) for name in circle):
            yield 3 * distance + 1
        elif any(_module(name) in imports for name in circle):
            yield 3 * distance + 2
        elif any(folder == _words(part) for name in circle for part in Path(name).parts[1:-1]):
            yield 3 * distance + 3


def _is_named_after(words: set[str], name: str) -> bool:
    """If a test's words have all those of a module or its package: "dashboard" of `test_dashboard_days`."""
    path = Path(name)
    nouns = [path.stem, *path.parent.parts[1:][-1:]]
    return name.startswith(PACKAGES) and any(_words(noun) <= words for noun in nouns)


def _words(name: str) -> set[str]:
    return {word.removesuffix("s") for word in name.split("_")}


def _imports(source: str) -> Iterator[str]:
    """The modules that a source names; of `from a import b`, both `a` and `a.b`."""
    for module, names, plain in _IMPORT.findall(source):
        yield from re.findall(r"[\w.]+", plain)
        if module:
            yield module
            yield from (f"{module}.{name}" for name in re.findall(r"\w+", names))


def _module(name: str) -> str:
    return name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _git(*arguments: str) -> list[str]:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split()


def main(seconds: float) -> int:
    """The exit code of what fails: lint, types or tests."""
    deadline = time.monotonic() + seconds - SECONDS_TO_END
    changed = changed_files()
    tracked = _git("ls-files", "*.py", *PACKAGES)
    files = [name for name in {*tracked, *changed} if name.startswith((*PACKAGES, "tests/"))]
    near = nearest_tests(changed, [name for name in files if (ROOT / name).exists()], _text)
    tests = near[: int(FILES_A_SECOND * seconds)]
    sys.stdout.write(f"{len(changed)} files changed; {len(tests)} of {len(near)} files of tests near them.\n")
    sys.stdout.flush()
    modules = [name for name in changed if name.endswith(".py")]
    if code := _lint(modules):
        return code
    with ThreadPoolExecutor() as threads:
        # Types take one processor, while pytest mostly starts.
        types = threads.submit(_types, modules)
        tested = _test(tests, deadline, seconds)
        code, said = types.result()
    sys.stdout.write(said if code else "")
    return code or tested


def _text(name: str) -> str:
    return (ROOT / name).read_text(errors="replace")


def _lint(modules: Sequence[str]) -> int:
    if not modules:
        return 0
    return _run("ruff", "check", "--quiet", *modules) or _run(
        "ruff", "format", "--check", "--quiet", *modules
    )


def _types(modules: Sequence[str]) -> tuple[int, str]:
    """The exit code of the first check that fails, and what it says; that is printed after the tests."""
    commands = [["mypy"]] if modules else []
    if ours := [name for name in modules if name.startswith(PACKAGES)]:
        commands.append(["tests.project.columns", *ours])
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False
        )
        if done.returncode:
            return done.returncode, done.stdout + done.stderr
    return 0, ""


def _test(tests: Sequence[str], deadline: float, seconds: float) -> int:
    """A test that waits for what the change has broken is given up after `seconds`."""
    if not tests:
        return 0
    workers = "0" if len(tests) == 1 else "auto"
    # Small chunks: by itself a worker would begin with a file from the middle.
    options = ["-q", "-n", workers, "--maxschedchunk=2", "-m", "not long"]
    limits = [f"--begin-until={deadline}", f"--timeout={seconds}"]
    code = _run("pytest", *options, *limits, *tests)
    return 0 if code == pytest.ExitCode.NO_TESTS_COLLECTED else code


def _run(*command: str) -> int:
    return subprocess.run([sys.executable, "-m", *command], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(float(next(iter(sys.argv[1:]), SECONDS))))
