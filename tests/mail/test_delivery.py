"""Delivery: each mail is sent once, none is lost, and none is tried for ever."""

import asyncio
import re
from datetime import timedelta

import pytest

from gateway.mail.delivery import FIRST_WAIT, GIVE_UP_AFTER, LONGEST_WAIT
from storage.clock import now
from storage.queues.mails import MAILS, NO_RECIPIENT
from tests.support.measures.log_lines import own_log_lines
from tests.support.measures.patience import until
from tests.support.measures.spans import span
from tests.support.servers.mail_server import HANGS_UP, MailServer

pytestmark = pytest.mark.both_databases


async def test_a_mail_arrives_as_it_was_written_and_its_row_goes(post, server):
    await post.write("Åsa@example.com", "Grüße", text="Guten Morgen, Åsa", html="<p>Guten Morgen, Åsa</p>")
    (row,) = await post.rows()
    assert await post.delivery(server).run() is False
    (mail,) = server.mails
    assert (mail["From"], mail["To"], mail["Subject"]) == (
        "Duograph <duograph@example.com>",
        "Åsa@example.com",
        "Grüße",
    )
    assert server.recipients == ["Åsa@example.com"]
    assert mail.get_body(("plain",)).get_content().strip() == "Guten Morgen, Åsa"
    assert mail.get_body(("html",)).get_content().strip() == "<p>Guten Morgen, Åsa</p>"
    assert mail["Message-ID"] == f"<{row['id']}@example.com>"
    assert mail["Date"].datetime == row["created_at"].replace(microsecond=0)
    assert mail["Auto-Submitted"] == "auto-generated"
    assert await post.rows() == []


async def test_what_a_recipient_is_called_begins_no_header(post, server):
    await post.write(subject="Hello\r\nBcc: eve@example.com")
    await post.delivery(server).run()
    assert server.mails[0]["Bcc"] is None
    assert server.recipients == ["ada@example.com"]


async def test_a_domain_is_written_as_every_server_takes_it(post, server):
    await post.write("ada@exämple.com")
    await post.delivery(server).run()
    assert server.recipients == ["ada@xn--exmple-cua.com"]


async def test_several_mails_go_over_one_connection_oldest_first(post, server):
    for number in range(3):
        await post.write(subject=f"Number {number}")
    await post.delivery(server).run()
    assert [mail["Subject"] for mail in server.mails] == ["Number 0", "Number 1", "Number 2"]


async def test_a_mail_without_a_recipient_is_removed_and_never_sent(post, server):
    await post.write(NO_RECIPIENT)
    await post.write()
    with own_log_lines() as logs:
        await post.delivery(server).run()
    assert server.recipients == ["ada@example.com"]
    assert await post.rows() == []
    assert [line["event"] for line in logs] == ["mail sent"]


async def test_a_piece_of_work_is_bounded_and_says_that_there_is_more(post, server, monkeypatch):
    monkeypatch.setattr("gateway.mail.delivery.MAILS_IN_A_PIECE", 2)
    for _ in range(3):
        await post.write()
    delivery = post.delivery(server)
    assert (await delivery.run(), len(server.mails)) == (True, 2)
    assert (await delivery.run(), len(server.mails)) == (False, 3)


async def test_many_processes_send_each_mail_once(post, server):
    for number in range(12):
        await post.write(subject=f"Number {number}")
    await asyncio.gather(*(post.delivery(server).run() for _ in range(4)))
    assert sorted(mail["Subject"] for mail in server.mails) == sorted(f"Number {n}" for n in range(12))
    assert await post.rows() == []


async def test_a_mail_that_is_being_sent_is_not_sent_by_another_process(post, server):
    await post.write()
    server.holds = asyncio.Event()
    sending = asyncio.create_task(post.delivery(server).run())
    await server.wait_for(1)
    assert await post.delivery(server).run() is False
    server.holds.set()
    await sending
    assert len(server.mails) == 1


async def test_after_a_crash_between_claim_and_sending_another_process_sends_it(post, server):
    await post.write()
    server.holds = asyncio.Event()
    with span() as claiming:
        crashing = asyncio.create_task(post.delivery(server).run())
        await server.wait_for(1)
    crashing.cancel()
    await asyncio.gather(crashing, return_exceptions=True)
    server.holds = None
    (row,) = await post.rows()
    assert row["due_at"] in claiming + MAILS.lease
    await post.delivery(server).run()
    assert len(server.mails) == 1
    await post.make_due()
    await post.delivery(server).run()
    first, second = server.mails
    assert first["Message-ID"] == second["Message-ID"]
    assert await post.rows() == []


async def test_while_the_server_is_down_mails_wait_longer_and_longer_and_then_go(post, server, monkeypatch):
    moment = now()
    monkeypatch.setattr("gateway.mail.delivery.now", lambda: moment)
    await post.write()
    await server.stop()
    delivery, waits = post.delivery(server), []
    for _ in range(12):
        await post.make_due()
        assert await delivery.run() is False
        waits.append(((await post.rows())[0]["due_at"] - moment) / FIRST_WAIT)
    assert waits == [1, 2, 4, 8, 16, 32, 64, 128, 256, *[LONGEST_WAIT // FIRST_WAIT] * 3]
    await server.start()
    await post.make_due()
    await delivery.run()
    assert len(server.mails) == 1
    assert await post.rows() == []


async def test_one_try_tells_that_the_server_is_down_and_the_others_wait(post, server):
    for _ in range(3):
        await post.write()
    await server.stop()
    await post.delivery(server).run()
    assert sorted(row["attempts"] for row in await post.rows()) == [0, 0, 1]


async def test_a_mail_that_cannot_be_sent_for_a_day_is_given_up_with_a_line_in_the_log(post, server):
    await post.write("secret.person@example.com", text="Your code is 123456")
    await post.change(created_at=now() - GIVE_UP_AFTER)
    await server.stop()
    with own_log_lines() as lines:
        await post.delivery(server, user="ada:hush@").run()
    (line,) = lines
    assert (line["event"], line["log_level"], line["attempts"]) == ("mail given up", "error", 1)
    assert not re.search("secret.person|123456|hush", str(lines))
    assert await post.rows() == []


@pytest.mark.parametrize("answer", ["550 no such mailbox", "RCPT 550 <ada@example.com> is unknown"])
async def test_a_mail_that_is_refused_for_good_is_not_tried_again_and_the_next_one_goes(post, server, answer):
    server.answers.append(answer)
    await post.write(subject="Refused")
    await post.write(subject="Taken")
    with own_log_lines() as lines:
        await post.delivery(server).run()
    assert [mail["Subject"] for mail in server.mails] == ["Taken"]
    assert await post.rows() == []
    assert [line["event"] for line in lines] == ["mail given up", "mail sent"]
    assert "550" in lines[0]["reason"]
    assert "example.com" not in str(lines)


@pytest.mark.parametrize("answer", ["451 try again later", "RCPT 450 try again later"])
async def test_a_mail_that_is_put_off_is_tried_again_and_the_next_one_goes(post, server, answer):
    server.answers.append(answer)
    await post.write(subject="Put off")
    await post.write(subject="Taken")
    await post.delivery(server).run()
    assert [mail["Subject"] for mail in server.mails] == ["Taken"]
    (row,) = await post.rows()
    assert (row["subject"], row["attempts"]) == ("Put off", 1)
    await post.make_due()
    await post.delivery(server).run()
    assert [mail["Subject"] for mail in server.mails] == ["Taken", "Put off"]


async def test_an_address_that_no_mail_can_have_does_not_hold_up_the_others(post, server):
    await post.write("not an address")
    await post.write()
    await post.delivery(server).run()
    assert server.recipients == ["ada@example.com"]
    assert await post.rows() == []


async def test_an_address_that_the_server_cannot_write_does_not_hold_up_the_others(post):
    server = await MailServer(takes_utf8=False).start()
    await post.write("Åsa@example.com")
    await post.write()
    with own_log_lines() as lines:
        await post.delivery(server).run()
    await server.stop()
    assert server.recipients == ["ada@example.com"]
    assert await post.rows() == []
    assert [line["event"] for line in lines] == ["mail given up", "mail sent"]
    assert "SMTPNotSupported" in lines[0]["reason"]


async def test_a_server_that_hangs_up_in_the_middle_is_left_until_later(post, server):
    server.answers.append(HANGS_UP)
    for _ in range(2):
        await post.write()
    assert await post.delivery(server).run() is False
    assert sorted(row["attempts"] for row in await post.rows()) == [0, 1]
    await post.make_due()
    await post.delivery(server).run()
    assert len(server.mails) == 2


async def test_no_more_are_handed_over_in_a_minute_than_the_setting_says(post, server):
    for _ in range(3):
        await post.write()
    sending = asyncio.create_task(post.delivery(server, per_minute=2).run())

    async def last():
        rows = await post.rows()
        return rows if len(rows) == 1 else None

    await until(last)
    # The third one waits for its turn without being claimed: it is free for other processes.
    await asyncio.wait([sending], timeout=0.2)
    assert [row["attempts"] for row in await post.rows()] == [0]
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)
    await post.delivery(server).run()
    assert len(server.mails) == 3


async def test_a_server_that_says_nothing_is_left(post, monkeypatch):
    monkeypatch.setattr("gateway.mail.delivery.SENDING_TAKES_AT_MOST", timedelta(seconds=0.1))
    silent = await MailServer().start()
    silent.holds = asyncio.Event()
    await post.write()
    assert await post.delivery(silent).run() is False
    silent.holds.set()
    await silent.stop()
    assert [row["attempts"] for row in await post.rows()] == [1]
