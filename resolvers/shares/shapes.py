"""The shapes of shares and of what they embed."""

from collections.abc import Callable
from typing import Any

from sqlalchemy import FromClause, Select, Table, and_, select

from resolvers.files.shapes import FILE
from resolvers.operations.shapes.shapes import Embedded, Part, Shape
from schema.portal.portal import PortalShare
from schema.shares.custom_fields import CustomField
from schema.shares.prices import Price
from schema.shares.shares import AttachedCustomField, Share
from storage.rows.rows import table_of
from storage.tables.shares.custom_fields import CustomFieldRow
from storage.tables.shares.files import FileRow
from storage.tables.shares.shares import (
    ShareCustomFieldRow,
    ShareDownloadRow,
    ShareMediaRow,
    SharePriceRow,
    ShareRow,
)

_shares, _prices = table_of(ShareRow), table_of(SharePriceRow)
_medias, _downloads = table_of(ShareMediaRow), table_of(ShareDownloadRow)
_attached, _custom_fields, _files = table_of(ShareCustomFieldRow), table_of(CustomFieldRow), table_of(FileRow)


def _prices_of(share: FromClause) -> Select[Any]:
    own = and_(_prices.c.workspace_id == share.c.workspace_id, _prices.c.share_id == share.c.id)
    current = _prices.c.is_archived.is_(False)
    return select(_prices).where(own, current).order_by(_prices.c.created_at, _prices.c.id)


def _files_in(listed: Table) -> Callable[[FromClause], Select[Any]]:
    """The files that the table lists for a share, in order."""

    def files_of(share: FromClause) -> Select[Any]:
        same = and_(_files.c.workspace_id == listed.c.workspace_id, _files.c.id == listed.c.file_id)
        own = and_(listed.c.workspace_id == share.c.workspace_id, listed.c.share_id == share.c.id)
        return select(_files).join_from(listed, _files, same).where(own).order_by(listed.c.position)

    return files_of


def _attached_to(share: FromClause) -> Select[Any]:
    same = and_(
        _custom_fields.c.workspace_id == _attached.c.workspace_id,
        _custom_fields.c.id == _attached.c.custom_field_id,
    )
    own = and_(_attached.c.workspace_id == share.c.workspace_id, _attached.c.share_id == share.c.id)
    return (
        select(_attached).join_from(_attached, _custom_fields, same).where(own).order_by(_attached.c.position)
    )


CUSTOM_FIELD = Shape(CustomField, _custom_fields)
PRICE = Shape(Price, _prices)
ATTACHED = Shape(
    AttachedCustomField, _attached, {"custom_field": Embedded(CUSTOM_FIELD), "order": _attached.c.position}
)
_OFFERED = {"prices": Part(PRICE, _prices_of), "medias": Part(FILE, _files_in(_medias))}
_DOWNLOADS = Part(FILE, _files_in(_downloads))
SHARE = Shape(
    Share,
    _shares,
    {**_OFFERED, "downloads": _DOWNLOADS, "attached_custom_fields": Part(ATTACHED, _attached_to)},
)
PORTAL_SHARE = Shape(PortalShare, _shares, _OFFERED)
