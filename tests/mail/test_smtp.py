"""Mail servers as they are: with encryption and passwords, and with neither."""

import pytest
import pytest_asyncio

from gateway.settings.values.mail_addresses import SmtpAddress
from tests.support.measures.log_lines import own_log_lines
from tests.support.servers.mail_server import PASSWORD, USER, MailServer, make_certificate

SIGN_IN = "ada:p%40ss%3Aword%2F@"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    return make_certificate(tmp_path_factory.mktemp("certificate") / "mail.pem")


@pytest.fixture
def trusted(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))


@pytest_asyncio.fixture
async def start():
    """Start a server with the given options; all are stopped in the end."""
    started = []

    async def begin(**options):
        started.append(await MailServer(**options).start())
        return started[-1]

    yield begin
    for server in started:
        await server.stop()


async def send(post, server, **options):
    await post.write()
    with own_log_lines() as lines:
        await post.delivery(server, **options).run()
    assert PASSWORD not in str(lines)
    return [line.get("reason") for line in lines]


async def test_a_connection_is_encrypted_where_the_server_can(post, start, certificate, trusted):
    server = await start(certificate=certificate)
    await send(post, server)
    assert server.sent_by == [(None, True)]


async def test_the_password_of_the_setting_is_proven(post, start, certificate, trusted):
    server = await start(certificate=certificate, takes_only_users=True)
    await send(post, server, user=SIGN_IN)
    assert server.sent_by == [(USER, True)]


async def test_smtps_is_encrypted_from_the_first_byte(post, start, certificate, trusted):
    server = await start(certificate=certificate, tls_first=True)
    await send(post, server, scheme="smtps")
    assert server.sent_by == [(None, False)]
    assert len(server.mails) == 1


async def test_a_certificate_of_an_unknown_authority_is_not_trusted(post, start, certificate):
    server = await start(certificate=certificate)
    await send(post, server, user=SIGN_IN)
    assert server.mails == []
    assert [row["attempts"] for row in await post.rows()] == [1]


async def test_a_wrong_password_puts_mails_off_until_the_setting_is_corrected(
    post, start, certificate, trusted
):
    server = await start(certificate=certificate, takes_only_users=True)
    assert await send(post, server, user="ada:wrong@") == ["SMTPAuthenticationError, 535"]
    await post.make_due()
    await post.delivery(server, user=SIGN_IN).run()
    assert len(server.mails) == 1


async def test_a_password_is_not_sent_in_the_clear_to_another_machine(post, start, monkeypatch):
    server = await start()
    monkeypatch.setattr(SmtpAddress, "is_loopback", False)
    (reason,) = await send(post, server, user=SIGN_IN)
    assert "no encryption is offered" in reason
    assert server.mails == []


@pytest.mark.parametrize(
    ("url", "host", "port", "username"),
    [
        ("smtp://mail.example.com", "mail.example.com", 25, None),
        ("smtp://ada:hush@mail.example.com", "mail.example.com", 587, "ada"),
        ("smtps://mail.example.com", "mail.example.com", 465, None),
        ("smtp://ada%40example.com:hush@[::1]:2525", "::1", 2525, "ada@example.com"),
    ],
)
def test_ports_are_the_usual_ones_unless_they_are_set(url, host, port, username):
    address = SmtpAddress.parse(url)
    assert (address.host, address.port, address.username) == (host, port, username)
    assert "hush" not in repr(address)
