"""The code blocks of a page, and a terminal in which a reader runs them one after the other."""

import json
import os
import re
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from markdown_it import MarkdownIt

from tests.support.measures.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[3]
RUN = ("sh", "graphql", "python")
# What the pages write for the tokens of a workspace and of a user, and for the gateway's address.
WORKSPACE_TOKEN, PERSONAL_TOKEN, ADDRESS = "dg_wat_...", "dg_pat_...", "http://localhost:8000"

_VARIABLE = re.compile(r"\$(\w+)\s*:")
_ASK = """
curl --silent --show-error "$DUOGRAPH/graphql" -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' --data-binary @{body}
"""


@dataclass(frozen=True)
class Block:
    """A block of code at a line of a page, with the output that the page prints below it, if it does."""

    line: int
    language: str
    code: str
    output: "Block | None" = None


def blocks(text: str) -> list[Block]:
    """The blocks of a page. `json` and `text` below a block that runs are its output."""
    found: list[Block] = []
    for token in MarkdownIt("commonmark").parse(text):
        if token.type == "code_block":
            raise AssertionError(f"line {token.map}: code has fences")
        if token.type != "fence":
            continue
        block = Block((token.map or [0])[0] + 1, token.info.strip(), token.content)
        last = found[-1] if found else None
        if block.language in ("json", "text") and last and last.language in RUN and last.output is None:
            found[-1] = Block(last.line, last.language, last.code, block)
        else:
            found.append(block)
    return found


@dataclass
class Terminal:
    """A Bash in `directory`, where each block goes on with the variables and functions of those before."""

    directory: Path
    variables: Mapping[str, str]
    placeholders: Mapping[str, str]
    _shell: Any = field(init=False)
    _count: int = 0

    def __post_init__(self) -> None:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DUOGRAPH")}
        path = f"{Path(sys.executable).parent}:{kept['PATH']}"
        self._shell = subprocess.Popen(
            ["bash"],
            cwd=self.directory,
            env={**kept, "PATH": path, **self.variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._send("set -euo pipefail; set -a; shopt -s inherit_errexit")
        # A reader's Python has its own library only.
        self._send('python3() { command python3 -I -S "$@"; }')

    def close(self) -> None:
        self._shell.stdin.close()
        self._shell.wait(PATIENCE_SECONDS)
        self._shell.stdout.close()

    def run(self, block: Block) -> str:
        """What the block prints; fails unless it succeeds."""
        self._count += 1
        file = self.directory / f"block-{self._count}"
        code = self._filled(block.code)
        if block.language == "graphql":
            names = dict.fromkeys(_VARIABLE.findall(code.partition("{")[0]))
            body = {"query": code, "variables": {name: self.variable(_shouted(name)) for name in names}}
            (self.directory / "document.json").write_text(json.dumps(body))
            code = _ASK.format(body="document.json")
        elif block.language == "python":
            (self.directory / "program.py").write_text(code)
            code = "python3 program.py\n"
        file.write_text(code)
        self._send(f"source ./{file.name} > {file.name}.out 2> {file.name}.err < /dev/null; printf '\\0'")
        if self._answer() is None:
            raise AssertionError(f"line {block.line} failed:\n{_read(file, 'out')}\n{_read(file, 'err')}")
        return _read(file, "out")

    def variable(self, name: str) -> str:
        """The value of a shell variable, empty if it has none."""
        self._send(f"printf '%s\\0' \"${{{name}:-}}\"")
        answer = self._answer()
        assert answer is not None
        return answer

    def set(self, name: str, value: str) -> None:
        (self.directory / "value").write_text(value)
        self._send(f"{name}=$(cat value)")

    def _filled(self, code: str) -> str:
        for placeholder, value in self.placeholders.items():
            code = code.replace(placeholder, value)
        return code

    def _send(self, command: str) -> None:
        self._shell.stdin.write(f"{command}\n")
        self._shell.stdin.flush()

    def _answer(self) -> str | None:
        """What the shell prints before a NUL; None if it has ended."""
        answer = ""
        while True:
            ready, _, _ = select.select([self._shell.stdout], [], [], PATIENCE_SECONDS)
            assert ready, "The command takes too long."
            character = os.read(self._shell.stdout.fileno(), 1)
            if character in (b"", b"\0"):
                return answer if character else None
            answer += character.decode()


def _read(file: Path, kind: str) -> str:
    return file.with_name(f"{file.name}.{kind}").read_text()


def _shouted(name: str) -> str:
    """`shareId` as a shell names it: `SHARE_ID`."""
    return re.sub(r"(?=[A-Z])", "_", name).upper()


def documents(text: str) -> Iterator[Any]:
    """The JSON documents in a text, one after the other; other text is passed over."""
    decoder, place = json.JSONDecoder(), 0
    while (start := min((at for sign in "{[" if (at := text.find(sign, place)) >= 0), default=-1)) >= 0:
        try:
            document, place = decoder.raw_decode(text, start)
            yield document
        except ValueError:
            place = start + 1


def differences(printed: Any, answered: Any, place: str = "") -> Iterator[str]:
    """Where an answer is not what a page prints.

    A page may leave out fields of an object, and writes `...` for text that differs each time; an id stands
    for any id.
    """
    if isinstance(printed, dict) and isinstance(answered, dict):
        for name, value in printed.items():
            yield from differences(value, answered.get(name, "(nothing)"), f"{place}.{name}")
    elif isinstance(printed, list) and isinstance(answered, list):
        if len(printed) != len(answered):
            yield f"{place}: {len(printed)} items are printed, {len(answered)} answered"
        for index, pair in enumerate(zip(printed, answered, strict=False)):
            yield from differences(*pair, f"{place}[{index}]")
    elif isinstance(printed, str) and isinstance(answered, str):
        if not _stands_for(printed, answered):
            yield f"{place}: {printed!r} is printed, {answered!r} answered"
    elif printed != answered or isinstance(printed, bool) != isinstance(answered, bool):
        yield f"{place}: {printed!r} is printed, {answered!r} answered"


def _stands_for(printed: str, answered: str) -> bool:
    if _is_id(printed) and _is_id(answered):
        return True
    pattern = ".*".join(map(re.escape, printed.split("...")))
    return re.fullmatch(pattern, answered, re.DOTALL) is not None


def _is_id(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def check(block: Block, out: str) -> None:
    """Fails unless the output is as printed; without a printed one, no answer in it may be an error."""
    answers = list(documents(out))
    if block.output is None:
        errors = [
            each for each in answers if isinstance(each, dict) and ("error" in each or "errors" in each)
        ]
        assert errors == [], f"line {block.line}: {errors}"
    elif block.output.language == "text":
        wrong = list(differences(block.output.code.strip().splitlines(), out.strip().splitlines()))
        assert wrong == [], f"line {block.line}: {wrong}\n{out}"
    else:
        printed = list(documents(block.output.code))
        assert printed, f"line {block.output.line}: no JSON"
        wrong = list(differences(printed, answers[-len(printed) :]))
        assert wrong == [], f"line {block.line}: {wrong}\n{out}"
