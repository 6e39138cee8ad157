"""docs/asvs.md has each control of OWASP's standard once, and the tests and documents that it names exist."""

import re

from tests.project.test_threats import ROOT, names_in

PAGE = (ROOT / "docs" / "asvs.md").read_text()
ROWS = [re.split(r" \| ", line.strip("| ")) for line in PAGE.splitlines() if re.match(r"\| \d", line)]
STATES = {"tested", "documented", "not applicable", "deviates"}
# The last control of each section of ASVS 4.0.3, and those that it has deleted or asks for at level 3 only.
SECTIONS = {
    1: {1: 7, 2: 4, 4: 5, 5: 4, 6: 4, 7: 2, 8: 2, 9: 2, 10: 1, 11: 3, 12: 2, 14: 6},
    2: {1: 12, 2: 7, 3: 3, 4: 5, 5: 7, 6: 3, 7: 6, 8: 7, 9: 3, 10: 4},
    3: {1: 1, 2: 4, 3: 4, 4: 5, 5: 3, 6: 2, 7: 1},
    4: {1: 5, 2: 2, 3: 3},
    5: {1: 5, 2: 8, 3: 10, 4: 3, 5: 4},
    6: {1: 3, 2: 8, 3: 3, 4: 2},
    7: {1: 4, 2: 2, 3: 4, 4: 3},
    8: {1: 6, 2: 3, 3: 8},
    9: {1: 3, 2: 5},
    10: {1: 1, 2: 6, 3: 3},
    11: {1: 8},
    12: {1: 3, 2: 1, 3: 6, 4: 2, 5: 2, 6: 1},
    13: {1: 5, 2: 6, 3: 2, 4: 2},
    14: {1: 5, 2: 6, 3: 3, 4: 7, 5: 4},
}
DELETED = {"1.4.2", "1.4.3", "1.12.1", "4.1.4", "7.3.2", "13.1.2", "13.2.4", "14.3.1"}
LEVEL_3 = {
    *("1.11.3", "2.2.4", "2.2.5", "2.2.6", "2.2.7", "3.6.1", "3.6.2", "6.2.7", "6.2.8", "6.3.3"),
    *("8.1.5", "8.1.6", "9.2.5", "10.1.1", "10.2.3", "10.2.4", "10.2.5", "10.2.6", "14.1.5"),
}


def test_each_control_of_levels_1_and_2_is_on_the_page_once_and_in_order():
    every = [
        f"{chapter}.{section}.{number}"
        for chapter, sections in SECTIONS.items()
        for section, last in sections.items()
        for number in range(1, last + 1)
    ]
    assert {*DELETED, *LEVEL_3} < set(every)
    expected = [control for control in every if control not in DELETED | LEVEL_3]
    assert [control for control, *_ in ROWS] == expected


def test_each_control_has_a_level_words_and_a_state():
    assert {len(row) for row in ROWS} == {5}
    assert {level for _, level, *_ in ROWS} == {"1", "2"}
    assert {state for *_, state, _ in ROWS} == STATES
    assert not [control for control, _, asked, _, how in ROWS if not asked or not how]


def test_every_test_that_the_page_names_exists():
    named = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
    assert len(named) > 150
    assert [f"{path}::{name}" for path, name in named if name not in names_in(path)] == []


def test_what_is_tested_names_its_test_and_nothing_looks_like_one_that_is_not():
    assert [control for control, _, _, state, how in ROWS if state == "tested" and "`tests/" not in how] == []
    assert len(re.findall(r"::\w", PAGE)) == len(re.findall(r"`tests/[\w/]+\.py::\w+`", PAGE))


def test_what_is_documented_names_a_document_or_a_module():
    documented = [(control, how) for control, _, _, state, how in ROWS if state == "documented"]
    without = [control for control, how in documented if not re.search(r"\]\([\w./-]+\)|`[\w/]+\.py`", how)]
    assert without == []
    files = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert [path for path in sorted(files) if not (ROOT / path).exists()] == []
