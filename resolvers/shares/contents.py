"""The contents of shares: prices, media, downloads and custom fields, read and replaced as whole lists."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Table, and_, delete

from resolvers.operations.context import Context
from resolvers.operations.rows.lookups import default_currency
from schema.errors import Invalid, Problem, problem
from schema.shares.prices import KIND_FIELDS
from storage.enums import FileService, PriceAmountType
from storage.rows.named_rows import rows_with
from storage.rows.rows import insert_rows, set_quietly, table_of, update_rows, values_of
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import (
    ShareCustomFieldRow,
    ShareDownloadRow,
    ShareFileRow,
    ShareMediaRow,
    SharePriceRow,
    ShareRow,
)

_prices = table_of(SharePriceRow)


def sort_amount(price: Mapping[str, Any]) -> int | None:
    """The sort key of a share with this price."""
    return 0 if price["amount_type"] == PriceAmountType.FREE else price.get("price_amount")


async def replace_prices(ctx: Context, share: ShareRow, prices: Sequence[dict[str, Any]]) -> bool:
    """Make `prices` the current ones: those with an id stay, those without are new, others are archived.

    Returns whether this changed anything.

    Raises `Invalid` for an id that is not a current price of the share, for values that differ from that
    price, and for more than one price.
    """
    rows = await rows_with(ctx.connection, SharePriceRow, **_keys(share), is_archived=False)
    current = {row.id: row for row in rows}
    problems = [entry for index, price in enumerate(prices) for entry in _check_kept(index, price, current)]
    if len(prices) > 1:
        problems.append(problem(("data", "prices"), "A share has at most one static price", "too_many"))
    if problems:
        raise Invalid(problems)
    kept = {price["id"] for price in prices if price["id"] is not None}
    if current.keys() - kept:
        dropped = and_(_own(_prices, share), _prices.c.id.in_(current.keys() - kept))
        await update_rows(ctx.connection, SharePriceRow, dropped, is_archived=True)
    is_missing = any(price.get("price_currency") is None for price in prices)
    currency = await default_currency(ctx, share.workspace_id) if is_missing else None
    new = [_new_price(share, price, currency) for price in prices if price["id"] is None]
    added = await insert_rows(ctx.connection, SharePriceRow, new)
    (final,) = [current[price["id"]] for price in prices if price["id"] is not None] or added
    amount = sort_amount(values_of(final))
    if amount != share.price_amount:
        # Only a sort key that follows the price: the share itself does not change, so modified_at stays.
        await set_quietly(ctx.connection, ShareRow, share, price_amount=amount)
    return bool(new) or kept != current.keys()


async def replace_medias(ctx: Context, share: ShareRow, ids: Sequence[UUID]) -> bool:
    """Make these files the share's media, in this order; returns whether they were others.

    Raises `Invalid` with each that is not allowed.
    """
    await _check_files(ctx, share, "medias", ids, FileService.PRODUCT_MEDIA)
    return await _replace(ctx, share, ShareMediaRow, _places(share, ids))


async def replace_downloads(ctx: Context, share: ShareRow, ids: Sequence[UUID]) -> bool:
    """Make these files what the share's customers download, in this order; returns whether they were others.

    Raises `Invalid` with each that is not allowed.
    """
    await _check_files(ctx, share, "downloads", ids, FileService.DOWNLOADABLE)
    return await _replace(ctx, share, ShareDownloadRow, _places(share, ids))


async def _check_files(
    ctx: Context, share: ShareRow, field: str, ids: Sequence[UUID], service: FileService
) -> None:
    """Raises `Invalid` for ids that are not uploaded files of the service in the share's workspace."""
    rows = await rows_with(ctx.connection, FileRow, workspace_id=share.workspace_id, id=list(ids))
    files = {file.id: file for file in rows}
    problems = [
        problem(("data", field, index), message, field.removesuffix("s"), input=str(id))
        for index, id in enumerate(ids)
        if (message := _refuse_file(files.get(id), service))
    ]
    if problems:
        raise Invalid(problems)


async def replace_custom_fields(ctx: Context, share: ShareRow, attached: Sequence[dict[str, Any]]) -> bool:
    """Attach these custom fields, in this order; returns whether they were others.

    Raises `Invalid` for unknown and repeated ones.
    """
    ids = [entry["custom_field_id"] for entry in attached]
    existing = await rows_with(ctx.connection, CustomFieldRow, workspace_id=share.workspace_id, id=ids)
    existing_ids = {row.id for row in existing}
    problems = []
    for index, id in enumerate(ids):
        loc = ("data", "attached_custom_fields", index, "custom_field_id")
        if id not in existing_ids:
            problems.append(problem(loc, "There is no such custom field", "not_found", input=str(id)))
        elif id in ids[:index]:
            problems.append(problem(loc, "This custom field is listed twice", "twice", input=str(id)))
    if problems:
        raise Invalid(problems)
    rows = [{**_keys(share), **entry, "position": place} for place, entry in enumerate(attached)]
    return await _replace(ctx, share, ShareCustomFieldRow, rows)


async def _replace(
    ctx: Context,
    share: ShareRow,
    model: type[ShareFileRow] | type[ShareCustomFieldRow],
    rows: Sequence[dict[str, Any]],
) -> bool:
    """Make these rows the share's only ones in the table; returns whether they were others."""
    present = await rows_with(ctx.connection, model, **_keys(share))
    before = sorted(map(values_of, present), key=lambda row: row["position"])
    if before == list(rows):
        return False
    await ctx.connection.execute(delete(table_of(model)).where(_own(table_of(model), share)))
    await insert_rows(ctx.connection, model, rows)
    return True


def _check_kept(index: int, price: dict[str, Any], current: dict[UUID, SharePriceRow]) -> Iterable[Problem]:
    if price["id"] is None:
        return
    loc = ("data", "prices", index)
    row = current.get(price["id"])
    if row is None:
        yield problem(
            (*loc, "id"), "This is no current price of the share", "not_found", input=str(price["id"])
        )
        return
    for name, value in price.items():
        if name != "id" and value is not None and value != getattr(row, name):
            yield problem(
                (*loc, name), "A price never changes: drop it and add a new one", "fixed", input=value
            )


def _refuse_file(file: FileRow | None, service: FileService) -> str | None:
    if file is None:
        return "There is no such file in the share's workspace"
    if file.service != service:
        return f"Only files of the service {service} can be listed here"
    return None if file.is_uploaded else "The file is not fully uploaded"


def _new_price(share: ShareRow, price: dict[str, Any], default_currency: str | None) -> dict[str, Any]:
    own = {name: price[name] for name in KIND_FIELDS[price["amount_type"]]}
    if "price_currency" in own:
        own["price_currency"] = own["price_currency"] or default_currency
    return {**_keys(share), "amount_type": price["amount_type"], "price_amount": None, **own}


def _keys(share: ShareRow) -> dict[str, Any]:
    return {"workspace_id": share.workspace_id, "share_id": share.id}


def _places(share: ShareRow, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    return [{**_keys(share), "file_id": id, "position": place} for place, id in enumerate(ids)]


def _own(table: Table, share: ShareRow) -> Any:
    return and_(table.c.workspace_id == share.workspace_id, table.c.share_id == share.id)
