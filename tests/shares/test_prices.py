"""What becomes of a share's price when the share is changed, over both surfaces."""

from tests.support.callers.refusals import UNKNOWN_ID, refusal, refused

FIXED = {"amount_type": "fixed", "price_amount": 1500}
FREE = {"amount_type": "free"}


async def test_a_price_that_is_sent_with_its_id_stays(surface):
    share = await surface.create_share(data={"name": "Quarterly report", "prices": [FIXED]})
    (price,) = share["prices"]
    kept = await surface.update_share(id=share["id"], data={"prices": [{"id": price["id"]}]})
    assert kept["prices"] == [price]
    same = [{"id": price["id"], **FIXED}]
    assert (await surface.update_share(id=share["id"], data={"prices": same}))["prices"] == [price]


async def test_a_price_without_an_id_takes_the_place_of_the_one_before(surface):
    share = await surface.create_share(data={"name": "Quarterly report", "prices": [FIXED]})
    changed = await surface.update_share(id=share["id"], data={"prices": [FREE]})
    (price,) = changed["prices"]
    assert price["amount_type"] == "free"
    assert price["id"] != share["prices"][0]["id"]
    assert await surface.get_share(id=share["id"]) == changed
    # The one before is archived: it cannot come back.
    again = surface.update_share(id=share["id"], data={"prices": [{"id": share["prices"][0]["id"]}]})
    assert await refusal(again) == {("prices", 0, "id"): "not_found"}


async def test_shares_are_sorted_by_the_price_that_took_the_place_of_another(surface):
    cheap, dear = [
        await surface.create_share(data={"name": name, "prices": [{**FIXED, "price_amount": amount}]})
        for name, amount in (("Leaflet", 100), ("Quarterly report", 1500))
    ]
    await surface.update_share(id=cheap["id"], data={"prices": [{**FIXED, "price_amount": 2000}]})
    listed = (await surface.list_shares(sorting=["price_amount"]))["data"]
    assert [share["id"] for share in listed] == [dear["id"], cheap["id"]]


async def test_a_price_never_changes(surface):
    share = await surface.create_share(data={"name": "Quarterly report", "prices": [FIXED]})
    dearer = [{"id": share["prices"][0]["id"], "amount_type": "fixed", "price_amount": 1600}]
    change = surface.update_share(id=share["id"], data={"prices": dearer})
    assert await refusal(change) == {("prices", 0, "price_amount"): "fixed"}
    unknown = surface.update_share(id=share["id"], data={"prices": [{"id": UNKNOWN_ID}]})
    assert await refusal(unknown) == {("prices", 0, "id"): "not_found"}
    assert await surface.get_share(id=share["id"]) == share


async def test_a_share_has_one_price(surface):
    share = await surface.create_share(data={"name": "Quarterly report", "prices": [FIXED]})
    two = {"prices": [FIXED, FREE]}
    assert await refusal(surface.update_share(id=share["id"], data=two)) == {("prices",): "too_many"}
    assert await refusal(surface.create_share(data={"name": "Two", **two})) == {("prices",): "too_many"}
    assert await surface.get_share(id=share["id"]) == share


async def test_a_new_price_says_of_which_kind_it_is(surface):
    untold = {"name": "Quarterly report", "prices": [{"price_amount": 1500}]}
    failure = await refused(surface.create_share(data=untold), 422, "invalid")
    assert failure.problems == {("prices", 0): "missing"}
    assert "A new price needs" in failure.detail[0]["msg"]
