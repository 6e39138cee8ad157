"""What happened in the last 30 days, on the pages of shares and customers."""

from datetime import datetime
from typing import Any

from gateway.web.dashboard.metrics.cards import NO_DATA


async def test_a_share_and_a_customer_show_what_happened_in_the_last_30_days(
    owner: Any, rest: Any, tenant: Any, customer: Any
) -> None:
    base = f"/{tenant.slug}"
    share, idle = [
        await rest.create_share(data={"name": name, "prices": [{"amount_type": "free"}]})
        for name in ("Field guide", "Idle")
    ]
    session = await rest.create_file_share_session(
        data={"share_id": share["id"], "customer_id": customer["id"], "file_size_bytes": 4200}
    )
    for amount, currency in ((1900, "jpy"), (500, "eur")):
        await rest.record_payment(id=session["id"], data={"amount": amount, "currency": currency})
    # Without revenue in the workspace's currency, the first in which there is some is drawn.
    for path in (f"shares/{share['id']}", f"customers/{customer['id']}"):
        await owner.open(f"{base}/{path}")
        assert "Last 30 days All metrics Revenue in other currencies: ¥1,900." in owner.text
        assert "€5.00" in owner.text.partition("¥1,900.")[2][:60], owner.text.partition("¥1,900.")[2][:120]
    assert (
        f'href="{base}/dashboard?range=30d&amp;currency=eur&amp;customer_id={customer["id"]}'
        in owner.page.text
    )
    await rest.record_payment(id=session["id"], data={"amount": 100, "currency": "usd"})
    await owner.open(f"{base}/customers/{customer['id']}")
    assert "Revenue in other currencies: €5.00, ¥1,900." in owner.text
    assert "$1.00" in owner.text.partition("¥1,900.")[2][:60]
    await owner.open(f"{base}/shares/{idle['id']}")
    assert "Last 30 days" not in owner.text


async def test_lists_show_revenue_and_sessions_of_the_last_30_days_by_record(
    owner: Any, rest: Any, tenant: Any, customer: Any
) -> None:
    """The first revenue of a share is in the currency of its price, that of a customer in the workspace's."""
    price = {"amount_type": "fixed", "price_amount": 1000, "price_currency": "eur"}
    names = ("Field guide", "Idle")
    shares = [await rest.create_share(data={"name": name, "prices": [price]}) for name in names]
    for currency in ("eur", "usd"):
        own = {"share_id": shares[0]["id"], "customer_id": customer["id"], "file_size_bytes": 1}
        session = await rest.create_file_share_session(data=own)
        await rest.record_payment(id=session["id"], data={"amount": 1000, "currency": currency})
    await owner.open(f"/{tenant.slug}/shares")
    assert "Field guide €10.00 €10.00 $10.00 2 Public" in owner.text
    assert f"Idle €10.00 {NO_DATA} None {NO_DATA} None Public" in owner.text
    # In one currency alone there is one amount.
    own = {"share_id": shares[1]["id"], "customer_id": customer["id"], "file_size_bytes": 1}
    session = await rest.create_file_share_session(data=own)
    await rest.record_payment(id=session["id"], data={"amount": 700, "currency": "eur"})
    await owner.open(f"/{tenant.slug}/shares")
    assert "Idle €10.00 €7.00 1 Public" in owner.text
    # An event under the external id that the customer takes afterwards.
    event = {"name": "page.viewed", "external_customer_id": "bo", "timestamp": "2026-01-05T09:30:00Z"}
    await rest.ingest_events(data={"events": [event]})
    await rest.create_customer(data={"email": "bo@example.com", "external_id": "bo"})
    await rest.create_customer(data={"email": "cy@example.com", "name": "Cy"})
    abroad = await rest.create_customer(data={"email": "di@example.com", "name": "Di"})
    other = await rest.create_file_share_session(data=own | {"customer_id": abroad["id"]})
    for amount, currency in ((1900, "jpy"), (500, "eur"), (100, "chf")):
        await rest.record_payment(id=other["id"], data={"amount": amount, "currency": currency})
    await owner.open(f"/{tenant.slug}/customers")
    last = f"{datetime.fromisoformat(session['created_at']):%-d %b %Y, }"
    assert f"Ada {customer['email']} $10.00 €17.00 3 {last}" in owner.text
    assert "Di di@example.com CHF 1.00 €5.00 ¥1,900 1 " in owner.text.replace("\N{NO-BREAK SPACE}", " ")
    nothing = f"{NO_DATA} None {NO_DATA} None"
    assert f"bo@example.com bo@example.com {nothing} 5 Jan 2026, 09:30 " in owner.text
    assert f"Cy cy@example.com {nothing} {NO_DATA} None " in owner.text


async def test_a_customer_shows_what_it_spent_and_did_the_newest_first(
    owner: Any, rest: Any, sale: Any, tenant: Any
) -> None:
    base, session = f"/{tenant.slug}", sale["file_share_session_id"]
    await rest.record_download(id=session, data={})
    await rest.refund_payment(id=sale["id"], data={"amount": 900})
    await owner.open(f"{base}/customers/{sale['customer_id']}")
    assert "Spent ¥1,000 Last seen" in owner.text
    assert "Timeline Sessions 1 Downloads 1 Payments 1 Refunds 1 Events 1" in owner.text
    lines = ("Refunded Field guide ¥900", "Downloaded Field guide", "Opened Field guide", "Customer Created")
    places = [owner.text.index(line) for line in lines]
    assert places == sorted(places)
    assert owner.text.index("Downloaded") < owner.text.index("Paid Field guide ¥1,900") < places[2]
    for path in ("sessions", "payments", "events"):
        assert f"{base}/{path}?customer_id={sale['customer_id']}" in owner.reading.links
    assert f"{base}/sessions/{session}" in owner.reading.links
