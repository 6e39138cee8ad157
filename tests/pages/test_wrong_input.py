"""What pages say of values that cannot be, in every field of every list and form of a workspace."""

import re
from urllib.parse import urlencode

# What the libraries that check values say, and kinds of values that only programs know.
NOT_FOR_PEOPLE = re.compile(
    r"Input should|should be a valid|String should|Field required|unable to|UUID|ISO 8601|`"
)
# What a page brings along, and nobody types.
UNSEEN = {"form_token", "once", "etag", "opened"}


def refused(owner):
    """The list of errors, whose words are a reader's."""
    told = owner.page.text.partition('<div class="errors"')[2].partition("</div>")[0]
    assert "<li>" in told
    assert not NOT_FOR_PEOPLE.search(told), told
    return told


async def test_a_refused_filter_is_called_by_its_label_in_a_readers_words(owner, tenant):
    for path in ("shares", "customers", "sessions", "payments", "events", "files"):
        await owner.open(f"/{tenant.slug}/{path}")
        names = [name for name, _ in owner.form("Show").fields]
        wrong = {name: "?" * 600 for name in names if not name.startswith("metadata")}
        answer = await owner.open(f"/{tenant.slug}/{path}?{urlencode(wrong)}")
        assert answer.status_code == 422
        assert re.findall(r">([^<:]+): [^<]+</a>", refused(owner))


async def test_a_refused_field_is_told_in_a_readers_words(owner, tenant, customer, sale):
    forms = [
        ("shares/new", "Create share"),
        ("customers/new", "Create customer"),
        ("custom-fields/new", "Create custom field"),
        (f"customers/{customer['id']}/portal-link", "Create link"),
        (f"sessions/{sale['file_share_session_id']}/payment", "Record payment"),
        (f"payments/{sale['id']}/refund", "Refund payment"),
    ]
    settings = [
        ("", "Save settings"),
        ("/webhooks", "Create endpoint"),
        ("/oauth-clients", "Create application"),
        ("/members", "Invite"),
        ("/access-tokens", "Create token"),
    ]
    pages = [(f"/{tenant.slug}/{path}", button) for path, button in forms]
    pages += [(f"/workspaces/{tenant.slug}{path}", button) for path, button in settings]
    for path, button in pages:
        await owner.open(path)
        names = {name for name, _ in owner.form(button).fields} - UNSEEN
        answer = await owner.press(button, **{name.replace(".", "__"): "?" for name in names})
        assert answer.status_code == 422, path
        refused(owner)
