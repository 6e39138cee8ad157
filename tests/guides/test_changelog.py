"""The changelog among the guides, and as a feed."""

from xml.etree import ElementTree

from gateway.cli.generated.docs import changelog_page
from gateway.web.guide.contents import GUIDE_PATH
from gateway.web.guide.feed import entries
from gateway.web.guide.search import search

ATOM = {"a": "http://www.w3.org/2005/Atom"}
FEED = f"{GUIDE_PATH}/changelog.atom"


async def test_the_page_names_its_feed(gateway):
    page = await gateway.client.get(f"{GUIDE_PATH}/changelog")
    assert page.status_code == 200
    assert f'<link rel="alternate" type="application/atom+xml" title="Duograph" href="{FEED}">' in page.text
    assert "atom+xml" not in (await gateway.client.get(f"{GUIDE_PATH}/concepts")).text


async def test_the_feed_has_what_users_notice_each_with_an_id_of_its_own(gateway):
    answer = await gateway.client.get(FEED)
    assert answer.headers["content-type"] == "application/atom+xml; charset=utf-8"
    assert "etag" in answer.headers
    feed = ElementTree.fromstring(answer.content)
    listed = feed.findall("a:entry", ATOM)
    assert [entry.findtext("a:content", namespaces=ATOM) for entry in listed] == [
        entry.text for entry in entries()
    ]
    ids = [entry.findtext("a:id", namespaces=ATOM) for entry in listed]
    assert len(set(ids)) == len(ids) > 10
    for name in ("id", "title", "updated"):
        assert all(entry.findtext(f"a:{name}", namespaces=ATOM) for entry in [feed, *listed])
    assert feed.find("a:link[@rel='self']", ATOM).get("href").endswith(FEED)


def test_entries_are_plain_text():
    assert not [entry.text for entry in entries() if "](" in entry.text or "`" in entry.text]


def test_links_of_the_page_lead_where_those_of_the_file_do():
    made = changelog_page("# Changelog\n\n- [a](docs/x.md#y), [b](README.md), [c](https://example.com).\n")
    assert made.endswith("- [a](x.md#y), [b](../README.md), [c](https://example.com).\n")


def test_the_search_finds_guides_and_not_what_changed():
    assert not [result for result in search("webhook") if "changelog" in result.section.address]
