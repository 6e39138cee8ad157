"""Composes the gateway from its parts."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.errors import ServerErrorMiddleware
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway.background.counts import counting_tasks, write_counts
from gateway.background.following import FollowingTasks
from gateway.background.retention import expiry_tasks, removal_tasks
from gateway.background.tasks import BackgroundTask, running
from gateway.endpoints.contracts import contract_routes
from gateway.endpoints.discovery import discovery_routes
from gateway.endpoints.health import HEALTH_PATH, Health, ready_route
from gateway.files.images import media_routes
from gateway.files.signed_urls import object_routes
from gateway.files.store import OBJECTS_PATH, make_object_store, storage_tasks
from gateway.http.addresses import ClientAddresses
from gateway.http.callers import Callers
from gateway.http.front import Front
from gateway.http.paths.route_templates import RouteTemplates
from gateway.http.response_headers import ResponseHeaders
from gateway.http.sockets import Sockets
from gateway.logs.logs import configure_logs, logs_requests
from gateway.logs.request_lines import RequestLines, request_lines
from gateway.mail.budget import DAY_SECONDS, WINDOW_SECONDS
from gateway.mail.task import mail_task
from gateway.monitoring.monitoring import Monitoring
from gateway.monitoring.sources import Sources
from gateway.rate_limits.budget import Budgets
from gateway.rate_limits.limits import RateLimiter
from gateway.services import make_budgets, make_mail_budget, make_services
from gateway.settings.server import Environment
from gateway.settings.settings import Settings
from gateway.web.entrance.authorize import authorize_routes
from gateway.web.entrance.demo import DemoEntrance
from gateway.web.explorer import explorer_page
from gateway.web.kit.origins import origin_of
from gateway.web.pages import page_routes, render_lost
from gateway.web.routes import settings_routes, slug_routes
from gateway.webhooks.task import Webhooks
from resolvers.graph.http.endpoint import GRAPHQL_PATH, GraphQLEndpoint
from resolvers.graph.root import make_schema
from resolvers.operations.context import Context, Services
from rest_compat.api import ROUTES, render_failure
from rest_compat.protocols.oauth import protocol_routes
from rest_compat.protocols.registration import registration_routes
from rest_compat.routing.front_routes import FrontRoute, front_endpoints
from schema.errors import Failure
from storage.cluster.nodes import SECONDS_BETWEEN_LOOKS
from storage.cluster.watching import NodeWatch
from storage.engine.database import Database
from storage.engine.replica import SECONDS_BETWEEN_QUESTIONS
from storage.engine.statements.watched import StatementWatch
from storage.metrics.packs.packing import SECONDS_BETWEEN_ROUNDS, Packing
from storage.migrations.revisions import newest_revision
from storage.objects.interface import ObjectStore
from storage.persons.claims import SECONDS_BETWEEN_CLAIMS, continue_claims
from storage.upkeep.folding import SECONDS_BETWEEN_SWEEPS, Fold
from storage.upkeep.recounting import SECONDS_BETWEEN_LOOKS as RECOUNT_SECONDS
from storage.upkeep.recounting import Recounting, name_of


def make_database(settings: Settings, watch: StatementWatch | None) -> Database:
    return Database(
        settings.database_url,
        settings.database_read_url,
        settings.database_pool_size,
        replace(settings.database_terms, name=name_of(newest_revision())),
        watch,
        most_of_one=settings.database_tenant_connections,
        most_long=settings.database_long_connections,
    )


def _watch_of_nodes(settings: Settings, database: Database) -> NodeWatch:
    connections, terms = settings.database_node_connections, settings.database_terms
    return NodeWatch(database, pooled=terms.pooled, connections=connections)


class Gateway(Starlette):
    """The application. HTTP requests reach its front first, which passes on what it does not answer."""

    front: Front | None = None
    sockets: Sockets
    monitoring: Monitoring

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self.sockets(scope, receive, send)
            return
        if self.front is None or scope["type"] != "http":
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        await self.front(scope, receive, send)


def _database_tasks(
    settings: Settings, database: Database, fold: Fold, nodes: NodeWatch
) -> list[BackgroundTask]:
    recounting = Recounting(database, sees_processes=not settings.database_terms.pooled)
    tasks = [
        BackgroundTask("fold", fold.run, every=0.5),
        BackgroundTask("pack", Packing(database).run, every=SECONDS_BETWEEN_ROUNDS),
        BackgroundTask("claim", partial(continue_claims, database), every=SECONDS_BETWEEN_CLAIMS),
        BackgroundTask("recount", recounting.run, every=RECOUNT_SECONDS),
        *expiry_tasks(database, settings.changes_days),
    ]
    if nodes.can_be_many:
        tasks.append(BackgroundTask("nodes", nodes.run, every=SECONDS_BETWEEN_LOOKS))
        tasks.append(BackgroundTask("direct reads", nodes.follow_direct_reads, every=1))
    if database.replica is not None:
        tasks.append(BackgroundTask("replica", database.replica.follow, every=SECONDS_BETWEEN_QUESTIONS))
    return tasks


def _service_tasks(settings: Settings, services: Services) -> list[BackgroundTask]:
    return [
        *storage_tasks(services, timedelta(days=settings.upload_days)),
        *counting_tasks(services, settings.usage_seconds),
        *removal_tasks(services),
    ]


def create_app(settings: Settings, demo: DemoEntrance | None = None, tracer_provider: Any = None) -> Gateway:
    """The whole gateway as one ASGI application; with `demo`, its link signs a browser in.

    Spans go to `tracer_provider`, or else to OpenTelemetry's SDK. Raises `SettingsError`.
    """
    configure_logs(settings.log_format, settings.log_level)
    monitoring = Monitoring(settings, tracer_provider)
    database = make_database(settings, monitoring.statement_watch)
    limiter, mail_limiter = RateLimiter(settings.redis_url), RateLimiter(settings.redis_url, WINDOW_SECONDS)
    days = RateLimiter(settings.redis_url, DAY_SECONDS)
    mail, fold = mail_task(settings, database, monitoring), Fold(database, SECONDS_BETWEEN_SWEEPS)
    nodes = _watch_of_nodes(settings, database)
    tasks = [mail, *_database_tasks(settings, database, fold, nodes)]
    objects = make_object_store(settings, settings.secret())

    def make_context(request: Request) -> Context:
        return Context(services=app.state.services, caller=request.state.caller)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await nodes.begin_early()
        async with monitoring.running(Sources(database, documents, fold, tasks, nodes)), running(tasks):
            yield
        await webhooks.close()
        request_lines.flush()
        await write_counts(app.state.services)
        for each in (following, objects, nodes, database, limiter, mail_limiter, days):
            await each.close()

    app = _bare_app(monitoring, lifespan)
    app.state.context, documents = make_context, app.state.schema.documents
    _add_routes(app, settings, objects, database, demo)
    mail_budget = make_mail_budget(settings, mail_limiter, days, monitoring.refusals)
    webhooks = Webhooks(settings, app.state.schema, app.state.graphql)
    services = make_services(
        settings,
        database,
        objects,
        mail_budget,
        reserved_slugs=_first_segments(app),
        wake_delivery=mail.wake,
        webhooks=webhooks.services,
    )
    following = FollowingTasks(settings, services)
    tasks += [*_service_tasks(settings, services), webhooks.task_for(services), *following.tasks]
    _open_fronts(app, settings, services, make_budgets(settings, limiter, monitoring.refusals))
    return app


def _bare_app(monitoring: Monitoring, lifespan: Any) -> Gateway:
    """The application with its schema, and without the routes that depend on settings."""
    # Starlette's type says that every handler takes any exception.
    handlers: dict[Any, Any] = {HTTPException: render_lost, Failure: render_failure}
    app = Gateway(routes=[*ROUTES, *contract_routes()], lifespan=lifespan, exception_handlers=handlers)
    app.monitoring = monitoring
    app.state.schema = make_schema()
    app.state.graphql = GraphQLEndpoint(app.state.schema, explorer_page)
    return app


def _add_routes(
    app: Gateway, settings: Settings, objects: ObjectStore, database: Database, demo: DemoEntrance | None
) -> None:
    """All routes but those of slugs."""
    routes = app.router.routes
    app.router.redirect_slashes = False
    routes.extend(page_routes(settings.base_url, settings.sign_in_url, demo))
    routes.extend(_protocol_routes(settings))
    routes.extend([*object_routes(OBJECTS_PATH, objects), *media_routes()])
    is_local = settings.smtp_url is None and settings.env is Environment.DEVELOPMENT
    outbox = settings.outbox if is_local else None
    routes.extend(settings_routes(sign_up_open=settings.sign_up, outbox=outbox, demo=demo))
    routes.extend(authorize_routes())
    for path in (GRAPHQL_PATH, f"{GRAPHQL_PATH}/"):
        routes.append(FrontRoute(path, app.state.graphql, ("GET", "POST")))
    routes.append(FrontRoute(HEALTH_PATH, Health()))
    routes.append(ready_route(database))


def _open_fronts(app: Gateway, settings: Settings, services: Services, budgets: Budgets) -> None:
    """Give the application its services, the last routes, and what answers requests and WebSockets."""
    app.state.services = services
    # After the others: no slug equals their first segments.
    app.router.routes.extend(slug_routes())
    addresses, own_origin = ClientAddresses(settings.trusted_proxies), origin_of(settings.sign_in_url)
    callers = Callers(services.database, addresses, own_origin)
    app.front = _front(app, settings, services, callers, budgets)
    app.sockets = _sockets(app, settings, services, callers, budgets)


def _front(app: Gateway, settings: Settings, services: Services, callers: Callers, budgets: Budgets) -> Front:
    """The front before the application's own layers."""
    own_origin = origin_of(settings.sign_in_url)
    behind = app.build_middleware_stack()
    if not isinstance(behind, ServerErrorMiddleware):
        raise TypeError("The outermost layer should be the one that answers unexpected errors.")
    return Front(
        behind.app,  # The front answers unexpected errors.
        front_endpoints(app.routes),
        services=services,
        callers=callers,
        budgets=budgets,
        headers=ResponseHeaders(secure=own_origin.startswith("https:")),
        templates=RouteTemplates(app.routes),
        lines=_lines(settings),
        origins=settings.cors_origins,
        watch=app.monitoring.watch,
        logs_addresses=settings.log_addresses,
    )


def _sockets(
    app: Gateway, settings: Settings, services: Services, callers: Callers, budgets: Budgets
) -> Sockets:
    return Sockets(
        app.state.graphql,
        services=services,
        callers=callers,
        budgets=budgets,
        origins=settings.cors_origins,
        own_origin=origin_of(settings.sign_in_url),
        lines=_lines(settings),
    )


def _lines(settings: Settings) -> RequestLines | None:
    return request_lines if settings.access_log and logs_requests(settings.log_level) else None


def _protocol_routes(settings: Settings) -> list[Route]:
    registration = registration_routes(open_to_all=settings.open_registration)
    return [*protocol_routes(), *registration, *discovery_routes()]


def _first_segments(app: Starlette) -> frozenset[str]:
    """The first segment of every route: slugs that no workspace may have, whatever the settings."""
    paths = [str(getattr(route, "path", "")) for route in app.routes] + [OBJECTS_PATH]
    return frozenset(path.split("/")[1] for path in paths if path.count("/")) - {""}
