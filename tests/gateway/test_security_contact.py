"""Where weaknesses are reported (RFC 9116): as the operator says, or nowhere."""

from datetime import UTC, datetime, timedelta

import pytest
from pydantic import ValidationError

from gateway.settings.settings import Settings
from tests.support.servers.gateways import run_gateway

PATH = "/.well-known/security.txt"


async def test_the_contact_is_told_with_a_date_until_which_it_holds(tmp_path):
    url = f"sqlite+aiosqlite:///{tmp_path}/duograph.sqlite"
    async for gateway in run_gateway(url, tmp_path, security_contact="mailto:security@example.com"):
        answer = await gateway.client.get(PATH)
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    told = dict(line.split(": ", 1) for line in answer.text.splitlines())
    assert told["Contact"] == "mailto:security@example.com"
    assert told["Canonical"].endswith(PATH)
    left = datetime.fromisoformat(told["Expires"]) - datetime.now(UTC)
    assert timedelta(days=178) < left < timedelta(days=365)


async def test_without_a_contact_there_is_no_such_file(gateway):
    assert (await gateway.client.get(PATH)).status_code == 404


@pytest.mark.parametrize("contact", ["security@example.com", "http://example.com", "mailto:a\nContact: b"])
def test_a_contact_is_an_address_of_one_line(contact):
    with pytest.raises(ValidationError):
        Settings(security_contact=contact)
