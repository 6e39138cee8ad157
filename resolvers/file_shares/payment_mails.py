"""Emails about a payment, to the customer and to members, as the workspace's settings say."""

from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import Select, and_, bindparam, select

from resolvers.mails.brands import Brand, brand_of
from resolvers.mails.mails import make_mail, make_mails, send_mails
from resolvers.mails.members import mailed_members
from resolvers.mails.unsolicited_mails import send_unsolicited_mail_if_allowed
from resolvers.operations.context import Context
from schema.values.prose import write_amount, write_day
from schema.workspaces.settings import CustomerEmailSettings, NotificationSettings
from storage.clock import now
from storage.engine.statements.kept import Kept
from storage.queues.mails import Mail
from storage.rows.rows import table_of
from storage.tables.customers.customers import CustomerRow
from storage.tables.shares.file_share_sessions import FileSharePaymentRow, FileShareSessionRow
from storage.tables.shares.shares import ShareRow
from storage.tables.workspaces.workspaces import WorkspaceRow

# A payment reported later is history, and no news to anyone.
LIVE_FOR = timedelta(hours=1)

_workspaces, _customers, _shares = table_of(WorkspaceRow), table_of(CustomerRow), table_of(ShareRow)


class Purchase(NamedTuple):
    """The values and settings of the emails; without a customer or a share, its values are None."""

    workspace: str
    slug: str
    avatar_url: str | None
    contact: str | None
    notification_settings: dict[str, Any]
    customer_email_settings: dict[str, Any]
    customer_email: str | None
    customer_name: str | None
    customer_language: str | None
    language: str | None
    share: str | None


async def mail_payment(ctx: Context, session: FileShareSessionRow, payment: FileSharePaymentRow) -> None:
    """Send the emails about a live payment, within the change that records it."""
    if now() - payment.at > LIVE_FOR:
        return
    purchase = await _find(ctx, session)
    own = ctx.services.auth_url
    brand = brand_of(session.workspace_id, purchase.workspace, purchase.avatar_url, own)
    for mail in _to_customer(purchase, payment, brand, f"{own}/{purchase.slug}/portal"):
        await send_unsolicited_mail_if_allowed(ctx, mail, session.workspace_id)
    if NotificationSettings.model_validate(purchase.notification_settings).new_payment:
        members = await mailed_members(ctx.connection, session.workspace_id)
        payer = {"payer": purchase.customer_name, "payer_address": purchase.customer_email}
        values = {**_shared_values(purchase, payment), **payer, "home": f"{own}/workspaces/{purchase.slug}"}
        mails = make_mails(members, "new_payment", brand=brand, **values)
        await send_mails(ctx, mails, session.workspace_id)


async def _find(ctx: Context, session: FileShareSessionRow) -> Purchase:
    values = {"home": session.workspace_id, "customer_id": session.customer_id, "share_id": session.share_id}
    (row,) = await ctx.connection.rows(_PURCHASE, values)
    return Purchase(*row)


def _select_purchase() -> Select[Any]:
    customer = and_(
        _customers.c.workspace_id == _workspaces.c.id,
        _customers.c.id == bindparam("customer_id"),
        _customers.c.deleted_at.is_(None),
    )
    share = and_(_shares.c.workspace_id == _workspaces.c.id, _shares.c.id == bindparam("share_id"))
    return (
        select(
            _workspaces.c.name,
            _workspaces.c.slug,
            _workspaces.c.avatar_url,
            _workspaces.c.email,
            _workspaces.c.notification_settings,
            _workspaces.c.customer_email_settings,
            _customers.c.email,
            _customers.c.name,
            _customers.c.language,
            _workspaces.c.language,
            _shares.c.name,
        )
        .join_from(_workspaces, _customers, customer, isouter=True)
        .join(_shares, share, isouter=True)
        .where(_workspaces.c.id == bindparam("home"))
    )


_PURCHASE = Kept(_select_purchase())


def _to_customer(
    purchase: Purchase, payment: FileSharePaymentRow, brand: Brand, portal: str
) -> Iterator[Mail]:
    is_enabled = CustomerEmailSettings.model_validate(purchase.customer_email_settings).payment_confirmation
    if is_enabled and purchase.customer_email is not None:
        values = _shared_values(purchase, payment)
        values |= {"customer": purchase.customer_name, "contact": purchase.contact, "portal": portal}
        language = purchase.customer_language or purchase.language
        yield make_mail(
            purchase.customer_email, "payment_confirmation", brand=brand, language=language, **values
        )


def _shared_values(purchase: Purchase, payment: FileSharePaymentRow) -> dict[str, Any]:
    return {
        "amount": partial(write_amount, payment.amount, payment.currency),
        "workspace": purchase.workspace,
        "share": purchase.share,
        "day": partial(write_day, payment.at),
    }
