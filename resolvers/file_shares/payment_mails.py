"""Who is told of a payment: the customer and the members, as the workspace's settings say."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from sqlalchemy import and_, select

from resolvers.mails.mails import make_mail, send_mails
from resolvers.mails.stranger_mails import mail_stranger_if_allowed
from resolvers.mails.workspace_addresses import addresses_of_members
from resolvers.operations.access import Row
from resolvers.operations.context import Context
from schema.prose import write_amount, write_day
from schema.workspace_settings import CustomerEmailSettings, NotificationSettings
from storage.clock import now
from storage.mails import Mail
from storage.rows import table_of
from storage.tables.customers import CustomerRow
from storage.tables.shares import ShareRow
from storage.tables.workspaces import WorkspaceRow

# What is reported later is history: nobody wants to read of it as if it had just happened.
LIVE_FOR = timedelta(hours=1)

_workspaces, _customers, _shares = table_of(WorkspaceRow), table_of(CustomerRow), table_of(ShareRow)


async def mail_payment(ctx: Context, session: Row, payment: Row) -> None:
    """Mail a live payment, inside the change that records it."""
    if now() - payment.at > LIVE_FOR:
        return
    found = await _find(ctx, session)
    for mail in _to_customer(found, payment):
        await mail_stranger_if_allowed(ctx, mail, session.workspace_id)
    if NotificationSettings.model_validate(found.notification_settings).new_payment:
        addresses = await addresses_of_members(ctx.connection, session.workspace_id)
        payer = {"payer": found.customer_name, "payer_address": found.customer_email}
        said = {**_said(found, payment), **payer, "home": f"{ctx.services.auth_url}/"}
        mails = [make_mail(address, "new_payment", **said) for address in addresses]
        await send_mails(ctx, mails, session.workspace_id)


async def _find(ctx: Context, session: Row) -> Row:
    """What the mails say and depend on, in one row; the customer's columns are null where there is none."""
    customer = and_(
        _customers.c.workspace_id == _workspaces.c.id,
        _customers.c.id == session.customer_id,
        _customers.c.deleted_at.is_(None),
    )
    share = and_(_shares.c.workspace_id == _workspaces.c.id, _shares.c.id == session.share_id)
    wanted = (
        select(
            _workspaces.c.name,
            _workspaces.c.email,
            _workspaces.c.notification_settings,
            _workspaces.c.customer_email_settings,
            _customers.c.email.label("customer_email"),
            _customers.c.name.label("customer_name"),
            _shares.c.name.label("share_name"),
        )
        .join_from(_workspaces, _customers, customer, isouter=True)
        .join(_shares, share, isouter=True)
        .where(_workspaces.c.id == session.workspace_id)
    )
    return dict((await ctx.connection.execute(wanted)).mappings().one())


def _to_customer(found: Row, payment: Row) -> Iterator[Mail]:
    wanted = CustomerEmailSettings.model_validate(found.customer_email_settings).payment_confirmation
    if wanted and found.customer_email is not None:
        said = {**_said(found, payment), "customer": found.customer_name, "contact": found.email}
        yield make_mail(found.customer_email, "payment_confirmation", **said)


def _said(found: Row, payment: Row) -> dict[str, Any]:
    return {
        "amount": write_amount(payment.amount, payment.currency),
        "workspace": found.name,
        "share": found.share_name,
        "day": write_day(payment.at),
    }
