"""Writes the tables of `docs/performance.md` and `docs/deploy.md` anew: `python -m bench.page [PART ...]`.

What stands between a comment with a command and the comment `end` is replaced by what the command prints.
With parts, only the commands that contain one of them are run. All of them take about half an hour.
"""

import re
import shlex
import subprocess
import sys
from pathlib import Path

PAGES = (Path("docs/performance.md"), Path("docs/deploy.md"))
SECTION = re.compile(r"(<!-- python (-m bench\.[^>]*) -->\n).*?(\n<!-- end -->)", re.S)


def main() -> None:
    parts = sys.argv[1:]

    def renewed(section: re.Match[str]) -> str:
        command = section[2]
        if parts and not any(part in command for part in parts):
            return section[0]
        print(f"python {command}", file=sys.stderr)
        # A missed target is an exit code too; the table says which.
        ended = subprocess.run([sys.executable, *shlex.split(command)], stdout=subprocess.PIPE, check=False)
        if not ended.stdout:
            raise SystemExit(f"{command} printed nothing.")
        return section[1] + "\n" + ended.stdout.decode().strip() + "\n" + section[3]

    for page in PAGES:
        page.write_text(SECTION.sub(renewed, page.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
