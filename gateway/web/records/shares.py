"""The pages of shares."""

from collections.abc import Mapping
from typing import Any

from gateway.web.records.kit import choices
from gateway.web.records.kit.cells import NOTHING, Cell, Column, Shown, priced
from gateway.web.records.kit.fields import Words
from gateway.web.records.kit.figures import FIGURES
from gateway.web.records.kit.records import Records, Related, Step, Task
from resolvers.shares.shares import create_share, delete_share, get_share, list_shares, update_share
from schema.errors import Invalid, problem
from schema.shares.prices import KIND_FIELDS
from schema.shares.shares import Share
from schema.workspaces.workspaces import Workspace
from storage.enums import FileService, PriceAmountType, Visibility

KIND = "amount_type"
KINDS = (("fixed", "Fixed price"), ("custom", "Customers choose the amount"), ("free", "Free"))
WORDS = {
    "name": Words(hint="Customers see it in the portal and in emails."),
    "description": Words(hint=""),
    "visibility": Words(required=True),
    "prices": Words("Price", hint="", only_one=True),
    "prices.amount_type": Words("Kind", options=KINDS, required=True),
    "prices.price_amount": Words("Amount", hint="For a fixed price.", when=(KIND, "fixed")),
    "prices.price_currency": Words("Currency", hint="", required=True, when=(KIND, "fixed", "custom")),
    "prices.minimum_amount": Words("Minimum", hint="If customers choose.", when=(KIND, "custom")),
    "prices.maximum_amount": Words("Maximum", hint="If customers choose.", when=(KIND, "custom")),
    "prices.preset_amount": Words("Suggestion", hint="If customers choose.", when=(KIND, "custom")),
    "medias": Words("Images", hint="", uploads=FileService.PRODUCT_MEDIA),
    "downloads": Words(
        "Files", hint="Customers download them in the portal.", uploads=FileService.DOWNLOADABLE
    ),
    "metadata": Words(hint="Your own keys and values. Customers do not see them."),
    "attached_custom_fields": Words("Custom fields", hint="What customers fill in, in this order."),
    "attached_custom_fields.custom_field_id": Words("Custom field", required=False),
    "attached_custom_fields.required": Words("Required"),
}
CHOICES = {"attached_custom_fields.custom_field_id": choices.custom_fields}


def _with_price(data: dict[str, Any], current: Mapping[str, Any] | None) -> dict[str, Any]:
    """The data with the fields of the price's kind only; a price that stays as it is keeps its id."""
    prices = []
    for number, sent in enumerate(data.get("prices", ())):
        if sent.get(KIND) not in dict(KINDS):
            prices.append(sent)
            continue
        kind = PriceAmountType(sent[KIND])
        kept = {name: value for name, value in sent.items() if name == KIND or name in KIND_FIELDS[kind]}
        if kind is PriceAmountType.FIXED and "price_amount" not in kept:
            raise Invalid([problem(("data", "prices", number, "price_amount"), "Field required", "missing")])
        old: Mapping[str, Any] = next(iter((current or {}).get("prices", ())), {})
        comparable = {name: value for name, value in old.items() if name in {KIND, *KIND_FIELDS[kind]}}
        prices.append({"id": old["id"]} if kept == comparable else kept)
    return {**data, "prices": prices}


def _new(workspace: Workspace, _: Any) -> Mapping[str, Any]:
    currency = workspace.default_presentment_currency.value
    return {
        "visibility": Visibility.PUBLIC.value,
        "prices": [{KIND: PriceAmountType.FIXED.value, "price_currency": currency}],
    }


def _price(share: Share, _: Shown) -> Cell:
    return priced(share.prices[0]) if share.prices else NOTHING


def _picture(share: Share) -> str | None:
    return next((file.public_url for file in share.medias if file.is_uploaded), None)


def _name(share: Share, _: Shown) -> Cell:
    return Cell("pictured", _picture(share), note=share.name)


def _custom_fields(share: Share, shown: Shown) -> Cell:
    links = [
        Cell(
            "link",
            each.custom_field.name + (" (required)" if each.required else ""),
            f"{shown.base}/custom-fields/{each.custom_field_id}",
        )
        for each in share.attached_custom_fields
    ]
    return Cell("list", links) if links else NOTHING


def _state(share: Share, _: Shown) -> Cell:
    if share.is_archived:
        return Cell("badge", "Archived")
    note = "active" if share.visibility is Visibility.PUBLIC else ""
    return Cell("badge", share.visibility.value.capitalize(), note=note)


SHARES = Records(
    area="Shares",
    path="shares",
    one="share",
    many="shares",
    about="What you sell or give away.",
    empty="A share has a name, a price and images. Create one to make your first sale.",
    model=Share,
    find=list_shares,
    get=get_share,
    called=lambda share: str(share.name),
    picture=_picture,
    columns=(
        Column("name", draw=_name),
        Column("price_amount", "Price", _price),
        *FIGURES,
        Column("visibility", "State", _state),
        Column("created_at"),
    ),
    facts={
        "visibility": Column("visibility", "State", _state),
        "prices": Column("prices", "Price", _price),
        "medias": Column("medias", "Images"),
        "downloads": Column("downloads", "Files"),
        "attached_custom_fields": Column("attached_custom_fields", "Custom fields", _custom_fields),
    },
    main_filters=("query", "visibility", "is_archived"),
    filter_words={
        "query": Words("Name", hint=""),
        "is_archived": Words("Archived", hint=""),
        "visibility": Words(hint=""),
        "metadata": Words(hint="A key and its value."),
    },
    without_filters=frozenset({"id"}),
    hidden=frozenset({"is_archived"}),
    measured_by="share_id",
    related=(Related("sessions", "share_id", "Sessions"), Related("payments", "share_id", "Payments")),
    create=Task(
        create_share,
        "Create share",
        "Share created.",
        heading="New share",
        words=WORDS,
        choices=CHOICES,
        without=frozenset({"prices.id"}),
        adjust=_with_price,
        starts_with=_new,
    ),
    change=Task(
        update_share,
        "Save share",
        "Share saved.",
        heading="Edit share",
        words=WORDS,
        choices=CHOICES,
        without=frozenset({"prices.id", "is_archived"}),
        adjust=_with_price,
    ),
    steps=(
        Step(
            "archive",
            "Archive",
            "It can no longer be purchased. Its sessions and payments stay, and you can restore it.",
            "Archive share",
            "Share archived.",
            delete_share,
            applies=lambda share: not share.is_archived,
        ),
        Step(
            "restore",
            "Restore",
            "It can be purchased again.",
            "Restore share",
            "Share restored.",
            update_share,
            arguments={"data": {"is_archived": False}},
            applies=lambda share: bool(share.is_archived),
            is_harmless=True,
        ),
    ),
)
