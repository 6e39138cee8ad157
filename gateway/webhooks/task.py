"""The background task that delivers webhooks, as configured by the settings."""

from functools import partial

from gateway.background.tasks import BackgroundTask
from gateway.settings.settings import Settings
from gateway.webhooks.connections import make_pool
from gateway.webhooks.delivery import Delivery
from resolvers.operations.context import Services

LOOKS_EVERY_SECONDS = 1


def make_delivery(settings: Settings, services: Services) -> Delivery:
    return Delivery(services, partial(make_pool, settings.webhook_allow))


def webhook_task(delivery: Delivery) -> BackgroundTask:
    return BackgroundTask("webhooks", delivery.run, LOOKS_EVERY_SECONDS)
