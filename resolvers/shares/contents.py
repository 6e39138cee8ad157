"""The contents of shares: prices, media, downloads and custom fields, read and replaced as whole lists."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Select, Table, and_, delete, select, update

from resolvers.operations.context import Context
from schema.errors import Invalid, Problem, problem
from schema.shares.prices import KIND_FIELDS
from storage.enums import FileService, PriceAmountType
from storage.rows.rows import every, every_of, insert_rows, key_of, table_of, update_rows, values_of
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
from storage.tables.workspaces.workspaces import WorkspaceRow

_prices = table_of(SharePriceRow)
_files, _custom_fields = table_of(FileRow), table_of(CustomFieldRow)
_SORT_AMOUNT: dict[str, int] = {PriceAmountType.FREE: 0}


async def replace_prices(ctx: Context, share: ShareRow, prices: Sequence[dict[str, Any]]) -> bool:
    """Make `prices` the current ones: those with an id stay, those without are new, others are archived.

    Returns whether this changed anything.

    Raises `Invalid` for an id that is not a current price of the share, for values that differ from that
    price, and for more than one price.
    """
    rows = await every_of(ctx.connection, SharePriceRow, _select_prices([share]))
    current = {row.id: row for row in rows}
    problems = [entry for index, price in enumerate(prices) for entry in _check_kept(index, price, current)]
    if len(prices) > 1:
        problems.append(problem(("data", "prices"), "A share has at most one static price", "too_many"))
    if problems:
        raise Invalid(problems)
    kept = {price["id"] for price in prices if price["id"] is not None}
    dropped = and_(_own(_prices, share), _prices.c.id.in_(current.keys() - kept))
    await update_rows(ctx.connection, SharePriceRow, dropped, is_archived=True)
    default_currency = await _default_currency(ctx, share)
    new = [_new_price(share, price, default_currency) for price in prices if price["id"] is None]
    added = await insert_rows(ctx.connection, SharePriceRow, new)
    (final,) = [current[price["id"]] for price in prices if price["id"] is not None] or added
    amount = _SORT_AMOUNT.get(final.amount_type, final.price_amount)
    # Only a sort key that follows the price: the share itself does not change, so modified_at stays.
    sort_key = update(table_of(ShareRow)).where(key_of(ShareRow, share)).values(price_amount=amount)
    await ctx.connection.execute(sort_key)
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
    own = and_(_files.c.workspace_id == share.workspace_id, _files.c.id.in_(ids))
    files = {file.id: file for file in await every(ctx.connection, FileRow, own)}
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
    own = and_(_custom_fields.c.workspace_id == share.workspace_id, _custom_fields.c.id.in_(ids))
    existing_ids = set((await ctx.connection.execute(select(_custom_fields.c.id).where(own))).scalars())
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
    own = _own(table_of(model), share)
    before = sorted(
        [values_of(row) for row in await every(ctx.connection, model, own)], key=lambda row: row["position"]
    )
    if before == list(rows):
        return False
    await ctx.connection.execute(delete(table_of(model)).where(own))
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


def _new_price(share: ShareRow, price: dict[str, Any], default_currency: str) -> dict[str, Any]:
    own = {name: price[name] for name in KIND_FIELDS[price["amount_type"]]}
    if "price_currency" in own:
        own["price_currency"] = own["price_currency"] or default_currency
    return {**_keys(share), "amount_type": price["amount_type"], "price_amount": None, **own}


async def _default_currency(ctx: Context, share: ShareRow) -> str:
    workspaces = table_of(WorkspaceRow)
    statement = select(workspaces.c.default_presentment_currency).where(workspaces.c.id == share.workspace_id)
    return str((await ctx.connection.execute(statement)).scalar_one())


def _keys(share: ShareRow) -> dict[str, Any]:
    return {"workspace_id": share.workspace_id, "share_id": share.id}


def _places(share: ShareRow, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    return [{**_keys(share), "file_id": id, "position": place} for place, id in enumerate(ids)]


def _own(table: Table, share: ShareRow) -> Any:
    return and_(table.c.workspace_id == share.workspace_id, table.c.share_id == share.id)


def _of_shares(table: Table, rows: Sequence[ShareRow]) -> Any:
    return and_(
        table.c.workspace_id.in_({row.workspace_id for row in rows}),
        table.c.share_id.in_([row.id for row in rows]),
    )


def _select_prices(rows: Sequence[ShareRow]) -> Select[Any]:
    current = and_(_of_shares(_prices, rows), _prices.c.is_archived.is_(False))
    return select(_prices).where(current).order_by(_prices.c.created_at, _prices.c.id)
