"""`duograph webhooks`: changes reach a receiver on one's own machine, and are made for it."""

import asyncio
import subprocess
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from gateway.cli.administration.triggers import TRIGGERS
from storage.changes.kinds import ChangeKind
from tests.support.measures.patience import until
from tests.support.servers.live import serve
from tests.support.servers.receiver import Receiver
from tests.support.servers.tcp_proxy import TcpProxy

SECRET = "whsec_" + "A" * 43 + "="


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    with serve(f"sqlite+aiosqlite:///{folder}/duograph.sqlite", folder) as (address, tenant):
        yield address, tenant


@pytest.fixture
def options(site):
    address, tenant = site
    return ["--gateway", address, "--token", tenant.token]


async def test_what_changes_is_sent_signed_to_a_receiver_also_after_the_gateway_was_away(
    empty, site, options
):
    receiver = await Receiver().start()
    async with TcpProxy.before(urlsplit(site[0]).port) as proxy:
        listening = empty.start(
            *("webhooks", "listen", "--forward", receiver.url, "--secret", SECRET),
            *("--kind", "customer.created", "--kind", "events.ingested", "--workspace", site[1].slug),
            *("--gateway", f"http://127.0.0.1:{proxy.port}", "--token", site[1].token),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with listening:
            try:
                # It has read where the log ends before it says so.
                assert SECRET in await asyncio.to_thread(listening.stdout.readline)
                proxy.refusing = True
                proxy.cut()
                assert "does not answer" in await asyncio.to_thread(listening.stderr.readline)
                for kind in ("share.created", "customer.created", "events.ingested"):
                    made = await asyncio.to_thread(empty.run, "webhooks", "trigger", kind, *options)
                    assert made.stdout == f"Made one {kind}.\n"
                proxy.refusing = False

                async def arrived():
                    return len(receiver.received) == 2

                await until(arrived)
                said = [await asyncio.to_thread(listening.stdout.readline) for _ in range(3)]
            finally:
                listening.terminate()
    assert [line.partition(" after ")[0] for line in said] == [
        f"Sending to {receiver.url}; Ctrl-C ends it.\n",
        "customer.created  200",
        "events.ingested  200",
    ]
    received, ingested = receiver.received
    assert ingested.verified(SECRET)["type"] == "events.ingested"
    # It is of no single resource.
    assert "duograph-resource-id" not in ingested.headers
    content = received.verified(SECRET)
    assert content["type"] == "customer.created"
    assert content["data"]["name"].startswith("Made by duograph")
    assert received.headers["duograph-resource-id"] == content["data"]["id"]
    await receiver.stop()


def test_every_kind_that_can_be_triggered_is_one_of_the_log(empty, options):
    assert TRIGGERS.keys() <= set(ChangeKind)
    for kind in TRIGGERS:
        outcome = empty.run("webhooks", "trigger", kind, *options)
        assert (outcome.status, outcome.stdout) == (0, f"Made one {kind}.\n"), outcome.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("trigger", "workspace.status_changed"), "cannot be triggered"),
        (("trigger", "share.created", "--workspace", "nowhere"), "reaches no workspace nowhere"),
        (("trigger", "share.created", "--token", "dg_wat_wrong"), "401"),
        (("trigger", "share.created", "--gateway", "http://127.0.0.1:1"), "does not answer"),
        (("listen", "--forward", "http://127.0.0.1:1", "--kind", "nothing"), "422"),
        (("listen", "--forward", "http://127.0.0.1:1", "--secret", "whsec_é"), "--secret"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(empty, options, arguments, sentence):
    outcome = empty.run("webhooks", arguments[0], *options, *arguments[1:])
    assert outcome.status in (1, 2)
    assert sentence in outcome.stderr
    assert "Traceback" not in outcome.stderr


async def test_a_gateway_that_cannot_answer_now_is_told_from_one_that_refuses(empty):
    async def answer(_):
        return web.json_response({"error": "unavailable", "detail": "It is being moved."}, status=503)

    receiver = await Receiver(answer).start()
    asked = ("webhooks", "trigger", "share.created", "--gateway", receiver.url, "--token", "dg_wat_token")
    said = await asyncio.to_thread(empty.run, *asked)
    await receiver.stop()
    assert (said.status, said.stderr) == (1, "The gateway cannot answer now (503): It is being moved.\n")
