"""Tab completion, as shells run it: the printed script is sourced, and the words so far are completed."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.cli.main import NOUNS
from tests.support.commands.command import Command
from tests.support.measures.patience import PATIENCE_SECONDS

BIN = Path(sys.executable).parent
# Sources the script that the command prints, and prints what the last of the words is completed to.
BASH = """
source <(duograph --show-completion)
COMP_WORDS=({words}) COMP_CWORD={index} COMPREPLY=()
_duograph_completion duograph
printf '%s\\n' "${{COMPREPLY[@]}}"
"""
# The command looks for the shell among the names of its parents, and is started by one of this name.
UNDER = "exec -a {shell} bash -c 'duograph {option}; :'"


def in_shell(shell: str, script: str, directory: Path, **settings: str) -> str:
    environ = Command(directory, {"PATH": f"{BIN}:/usr/bin:/bin", "HOME": str(directory)}).environ(**settings)
    done = subprocess.run(
        [shell, "-c", script],
        env=environ,
        cwd=directory,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        (("",), set(NOUNS)),
        (("us",), {"usage", "users"}),
        (("tokens", "re"), {"revoke"}),
        (("serve", "--rel"), {"--reload"}),
        (("move", "--u"), {"--undo"}),
        (("workspaces", "role", "acme", "ada@example.com", "ow"), {"owner"}),
    ],
    ids=["every command", "a noun", "a verb", "an option", "an option of one command", "a value"],
)
def test_bash_completes(tmp_path: Path, words: tuple[str, ...], completed: set[str]) -> None:
    script = BASH.format(words=shlex.join(["duograph", *words]), index=len(words))
    assert set(in_shell("bash", script, tmp_path).split()) == completed


@pytest.mark.parametrize(
    ("shell", "settings"),
    [
        ("zsh", {"_TYPER_COMPLETE_ARGS": "duograph tokens re"}),
        ("fish", {"_TYPER_COMPLETE_ARGS": "duograph tokens re", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}),
    ],
)
def test_what_the_scripts_of_other_shells_ask_is_answered(
    tmp_path: Path, shell: str, settings: dict[str, str]
) -> None:
    """These shells may be missing here; the variables are those that their scripts set."""
    script = in_shell("bash", UNDER.format(shell=shell, option="--show-completion"), tmp_path)
    assert f"_DUOGRAPH_COMPLETE=complete_{shell}" in script
    assert all(name in script for name in settings)
    answer = in_shell("bash", "duograph", tmp_path, _DUOGRAPH_COMPLETE=f"complete_{shell}", **settings)
    assert "revoke" in answer
    if shutil.which(shell):
        (tmp_path / "script").write_text(script)
        subprocess.run([shell, "-n", tmp_path / "script"], check=True, timeout=PATIENCE_SECONDS)


def test_completion_is_installed_for_new_shells(tmp_path: Path) -> None:
    in_shell("bash", UNDER.format(shell="bash", option="--install-completion"), tmp_path)
    assert (tmp_path / ".bash_completions" / "duograph.sh").exists()
    assert "duograph.sh" in (tmp_path / ".bashrc").read_text()
