"""Without a mail server mails are files, which any mail program opens."""

from email import message_from_bytes, policy

import pytest

from gateway.mail.delivery import Delivery
from gateway.mail.outbox import Outbox
from gateway.mail.transport import Down
from tests.mail.conftest import SENDER

pytestmark = pytest.mark.both_databases


async def test_a_mail_becomes_a_file_for_its_owner_alone(post, tmp_path):
    await post.write("ada@example.com", "Grüße", text="Guten Morgen", html="<p>Guten Morgen</p>")
    (row,) = await post.rows()
    outbox = tmp_path / "var" / "outbox"
    await Delivery(post.database, Outbox(outbox), SENDER).run()
    (file,) = outbox.iterdir()
    assert file.name == f"{row['created_at']:%Y%m%dT%H%M%S.%fZ}-{row['id']}.eml"
    assert (file.stat().st_mode & 0o777, outbox.stat().st_mode & 0o777) == (0o600, 0o700)
    mail = message_from_bytes(file.read_bytes(), policy=policy.SMTPUTF8)
    assert (mail["To"], mail["Subject"]) == ("ada@example.com", "Grüße")
    assert mail.get_body(("plain",)).get_content().strip() == "Guten Morgen"
    assert await post.rows() == []


async def test_a_link_can_be_copied_from_the_file(post, tmp_path):
    """However long it is, and beside letters beyond ASCII."""
    link = f"http://localhost:8000/sign-up/account?token={'x' * 2000}"
    await post.write(text=f"Grüße\n{link}\n", html=f'<a href="{link}">Grüße</a>')
    await Delivery(post.database, Outbox(tmp_path), SENDER).run()
    (file,) = tmp_path.iterdir()
    assert link in file.read_text("utf-8").splitlines()
    mail = message_from_bytes(file.read_bytes(), policy=policy.SMTPUTF8)
    assert link in mail.get_body(("plain",)).get_content()
    assert f'<a href="{link}">Grüße</a>' in mail.get_body(("html",)).get_content()


async def test_a_mail_that_is_written_twice_is_one_file(post, tmp_path):
    await post.write()
    (row,) = await post.rows()
    for _ in range(2):
        await Delivery(post.database, Outbox(tmp_path), SENDER).run()
        await post.write()
        await post.change(id=row["id"], created_at=row["created_at"])
    (file,) = tmp_path.iterdir()
    assert str(row["id"]) in file.name


async def test_files_sort_by_the_age_of_mails_whichever_is_sent_first(post, tmp_path):
    for subject in ("First", "Second"):
        await post.write(subject=subject)
    await post.write(subject="Third", is_urgent=True)
    await Delivery(post.database, Outbox(tmp_path), SENDER).run()
    mails = [message_from_bytes(file.read_bytes()) for file in sorted(tmp_path.iterdir())]
    assert [mail["Subject"] for mail in mails] == ["First", "Second", "Third"]


async def test_mails_wait_while_the_directory_cannot_be_written(post, tmp_path):
    (tmp_path / "file").touch()
    outbox = Outbox(tmp_path / "file" / "outbox")
    with pytest.raises(Down, match="Not a directory"):
        await outbox.check()
    await post.write()
    assert await Delivery(post.database, outbox, SENDER).run() is False
    assert [row["attempts"] for row in await post.rows()] == [1]
