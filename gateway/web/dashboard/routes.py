"""The routes of the dashboard."""

from starlette.routing import Route

from gateway.web.dashboard.own_pages import arrange, export_metric, show_arrangement, show_metric, show_top
from gateway.web.dashboard.page import show_dashboard
from gateway.web.dashboard.start import start
from gateway.web.kit.visits import START_PATH, page

PATH = "/{slug}/dashboard"


def start_routes() -> list[Route]:
    return [Route(START_PATH, page(start))]


def dashboard_routes() -> list[Route]:
    return [
        Route(PATH, page(show_dashboard)),
        Route(f"{PATH}/top/{{by}}", page(show_top)),
        Route(f"{PATH}/metric/{{metric}}", page(show_metric)),
        Route(f"{PATH}/metric/{{metric}}/csv", page(export_metric)),
        Route(f"{PATH}/arrange", page(show_arrangement)),
        Route(f"{PATH}/arrange", page(arrange), methods=["POST"]),
    ]
