"""The services that resolvers use, from the settings: those of a gateway and of a command."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

from gateway.mail.budget import MailBudget
from gateway.rate_limits.budget import Budgets
from gateway.rate_limits.limits import RateLimiter
from gateway.settings.server import Environment
from gateway.settings.settings import Settings
from oauth.revocation.signed_reports import ReportKeys
from resolvers.operations.context import Services
from resolvers.operations.row_quotas import Quota, RowQuotas
from schema.webhooks.services import NO_WEBHOOKS, WebhookServices
from storage.engine.database import Database
from storage.enums import FileService
from storage.objects.interface import ObjectStore
from storage.objects.scanning import Scanner
from storage.totals.kinds import bytes_of
from storage.usage.document_counts import DocumentCounts
from storage.usage.usage import Usage


def make_services(
    settings: Settings,
    database: Database,
    objects: ObjectStore,
    mail_budget: MailBudget,
    *,
    reserved_slugs: frozenset[str],
    wake_delivery: Callable[[], None],
    webhooks: WebhookServices = NO_WEBHOOKS,
) -> Services:
    return Services(
        database=database,
        objects=objects,
        base_url=settings.base_url,
        auth_url=settings.sign_in_url,
        secret_key=settings.secret(),
        reserved_slugs=reserved_slugs,
        size_limits={
            FileService.DOWNLOADABLE: settings.max_size_downloadable,
            FileService.PRODUCT_MEDIA: settings.max_size_product_media,
            FileService.WORKSPACE_AVATAR: settings.max_size_workspace_avatar,
        },
        report_keys=ReportKeys(settings.secret_scanning_keys_url),
        document_counts=DocumentCounts(),
        usage=Usage(),
        wake_delivery=wake_delivery,
        webhooks=webhooks,
        quota=Quota(settings.storage_quota, settings.open_upload_quota),
        row_quotas=RowQuotas(quotas_of(settings)),
        download_life=timedelta(minutes=settings.download_minutes),
        scanner=None if settings.clamd_url is None else Scanner(settings.clamd_url),
        policies=[
            (name, address)
            for name, address in (("Privacy", settings.privacy_url), ("Terms", settings.terms_url))
            if address is not None
        ],
        security_contact=settings.security_contact,
        mail_budget=mail_budget,
        is_production=settings.env is Environment.PRODUCTION,
        # In development without a mail server, emails are files and reach no strangers.
        mails_for_new_workspaces=settings.env is Environment.DEVELOPMENT and settings.smtp_url is None,
    )


def quotas_of(settings: Settings) -> dict[str, int]:
    """The quotas of rows and of bytes, as `RowQuotas` names them."""
    return {**settings.row_quotas, **{bytes_of(kind): size for kind, size in settings.byte_quotas.items()}}


def make_budgets(settings: Settings, limiter: RateLimiter, refusals: Counter[str]) -> Budgets:
    """The limits of requests; `refusals` counts those that did not fit."""
    normal, restricted = settings.rate_limit, settings.rate_limit_restricted
    return Budgets(limiter, normal, restricted, refusals, settings.rate_limit_milliseconds)


def make_mail_budget(
    settings: Settings, limiter: RateLimiter, days: RateLimiter, refusals: Counter[str] | None = None
) -> MailBudget:
    """The limits of emails in windows of an hour and of a day; `refusals` counts those that did not fit."""
    return MailBudget(
        limiter,
        settings.mail_limit_recipient,
        settings.mail_limit_workspace,
        settings.mail_limit_user,
        days=days,
        invitations=settings.invitation_limit,
        refusals=refusals,
    )
