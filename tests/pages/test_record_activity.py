"""What happened in the last 30 days, on the pages of shares and customers."""

from typing import Any


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
    await rest.record_payment(id=session["id"], data={"amount": 1900, "currency": "jpy"})
    await owner.open(f"{base}/shares/{share['id']}")
    assert "Last 30 days" in owner.text
    assert "Revenue in other currencies: ¥1,900." in owner.text
    await owner.open(f"{base}/customers/{customer['id']}")
    assert f'<a href="{base}/dashboard?range=30d&amp;customer_id={customer["id"]}' in owner.page.text
    await owner.open(f"{base}/shares/{idle['id']}")
    assert "Last 30 days" not in owner.text
