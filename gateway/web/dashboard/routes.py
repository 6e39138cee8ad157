"""The routes of the dashboard."""

from starlette.routing import Route

from gateway.web.dashboard.page import show_dashboard, show_top
from gateway.web.dashboard.start import start
from gateway.web.kit.visits import START_PATH, page

PATH = "/{slug}/dashboard"


def start_routes() -> list[Route]:
    return [Route(START_PATH, page(start))]


def dashboard_routes() -> list[Route]:
    return [Route(PATH, page(show_dashboard)), Route(f"{PATH}/top/{{by}}", page(show_top))]
