"""Pages written by hand name modules, tests and other pages; what they name exists."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DECISIONS = ROOT / "docs" / "decisions"
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
TOP = "(?:gateway|rest_compat|resolvers|schema|oauth|storage|tests|bench|docs)"
# A path in backticks, and a module in a diagram; `storage/tables/<noun>.py` is a pattern, not a path, and
# what follows `$DUOGRAPH/` is an address.
PATH = re.compile(rf"`({TOP}/[\w./-]*)`|(?<!\$DUOGRAPH/)\b({TOP}/[\w./-]*\.py)\b")
LINK = re.compile(r"\]\(([^)#:\s]*)(#[^)\s]*)?\)")
ENTRY = re.compile(
    r"^## (.+)\n\n(2\d{3}-\d\d-\d\d)(?:, revised 2\d{3}-\d\d-\d\d)? · (accepted|superseded)\b", re.M
)


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def anchor(heading: str) -> str:
    """As GitHub writes the anchor of a heading."""
    return "#" + re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.M)}


def test_every_path_on_a_page_exists() -> None:
    faults = [
        f"{name_of(page)}: {path}"
        for page in PAGES
        for path in {quoted or bare for quoted, bare in PATH.findall(page.read_text("utf-8"))}
        if not (ROOT / path).exists()
    ]
    assert not faults, "\n".join(faults)


def test_every_link_on_a_page_leads_somewhere() -> None:
    faults = []
    for page in PAGES:
        for target, fragment in LINK.findall(page.read_text("utf-8")):
            linked = page.parent / target if target else page
            if not linked.exists() or (fragment and fragment not in anchors(linked)):
                faults.append(f"{name_of(page)}: {target}{fragment}")
    assert not faults, "\n".join(faults)


def test_the_index_lists_every_decision_with_its_status() -> None:
    entries = set()
    for page in DECISIONS.glob("*.md"):
        text = page.read_text("utf-8")
        if page.name != "README.md":
            dated = ENTRY.findall(text)
            assert len(dated) == text.count("\n## "), f"{page.name}: an entry needs a date and a status"
            entries |= {
                f"- [{heading}]({page.name}{anchor(heading)}): {status}" for heading, _, status in dated
            }
    index = (DECISIONS / "README.md").read_text("utf-8")
    assert {line for line in index.splitlines() if line.startswith("- ")} == entries
