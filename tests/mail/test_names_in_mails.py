"""What people call themselves and their workspaces cannot put a message of theirs into our mails."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import meta

from resolvers.mails.mails import LONGEST_NAME, TEMPLATE_FOLDER, VERBATIM, make_mail, plain_name, templates

ROOT = Path(__file__).parent.parent.parent
TEMPLATES = sorted(path.stem for path in TEMPLATE_FOLDER.glob("*.txt"))
HOSTILE = (
    "Your account was charged.\r\n\r\nCancel at https://evil.test/refund, www.evil.test or evil.test, "
    "\uff45\uff56\uff49\uff4c\uff0etest, call +1 555 or 0800 (555) 01-00 <script>"
)
LINK = re.compile(r"://|www\.|evil\.test|[^\W\d_]\.[^\W\d_]{2}")
TELEPHONE = re.compile(r"\+\s*\d|\d(?:[\s().-]*\d){5}")


def variables_of(template):
    """The variables of both files of a template; those of what they are built on are made by `make_mail`."""
    environment, found = templates(), set()
    for ending in ("txt", "html"):
        source = environment.loader.get_source(environment, f"{template}.{ending}")[0]
        found |= meta.find_undeclared_variables(environment.parse(source))
    return found


def values_for(template):
    """Something hostile wherever somebody could have written it, and nothing elsewhere."""
    values = {name: "" if name in VERBATIM else HOSTILE for name in variables_of(template)}
    if "credentials" in values:
        values["credentials"] = [{"noun": "token", "comment": HOSTILE, "url": ""}]
    if "scopes" in values:
        values["scopes"] = [HOSTILE]
    return values


@pytest.mark.parametrize("template", TEMPLATES)
def test_no_template_lets_a_name_write_a_link_a_number_or_a_line(template):
    values = values_for(template)
    mail = make_mail("ada@example.com", template, **values)
    harmless = {name: "Acme" if value == HOSTILE else value for name, value in values.items()}
    plain = make_mail("ada@example.com", template, **harmless)
    html = re.sub(r"<[^>]*>", " ", mail.html.partition("</head>")[2])
    for text in (mail.subject, mail.text, html):
        assert not LINK.search(text), text
        assert not TELEPHONE.search(text), text
    assert "<script>" not in mail.html
    assert len(mail.text.split("\n\n")) == len(plain.text.split("\n\n"))


@given(st.text(max_size=200))
def test_any_name_becomes_one_short_line_that_nothing_can_be_followed_from(text):
    name = plain_name(text)
    assert len(name) <= LONGEST_NAME
    assert name.isprintable()
    assert not re.search(r"://|[^\W\d_]\.[^\W\d_]{2}", name)
    assert not TELEPHONE.search(name)


@pytest.mark.parametrize(
    "name", ["Harbour Prints", "J. R. Smith & Sons", "St. Mary's 2026", "M\u00fcller GmbH", "\u6771\u4eac 24"]
)
def test_an_ordinary_name_stays(name):
    assert plain_name(name) == name


def test_a_long_name_is_cut_and_says_so():
    longest = "a" * LONGEST_NAME
    assert plain_name(longest) == longest
    assert plain_name(longest + "a") == longest[:-1] + "\N{HORIZONTAL ELLIPSIS}"


def test_every_mail_is_made_from_a_template():
    """So that none can forget to clean names."""
    makers = {
        path.relative_to(ROOT).as_posix()
        for package in ("gateway", "rest_compat", "resolvers", "oauth")
        for path in (ROOT / package).rglob("*.py")
        if re.search(r"\bMail\(", path.read_text())
    }
    assert makers == {"resolvers/mails/mails.py"}
