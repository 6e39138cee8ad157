"""A small site with the developer pages, a real GraphQL schema and real REST routes, to open in a browser."""

from __future__ import annotations

from types import SimpleNamespace
from uuid import UUID

import strawberry
from fastapi import Depends, FastAPI, Request
from fastapi.responses import JSONResponse, Response
from fastapi.security import HTTPBearer
from pydantic import BaseModel, Field
from strawberry.asgi import GraphQL

from gateway.rate_limits.budget import RequestBudget
from gateway.rate_limits.limits import RateLimiter
from gateway.web.pages import explorer_response, page_routes
from resolvers.operations.context import Caller

BASE_URL = "http://127.0.0.1:8000/api"
AUTH_URL = "http://127.0.0.1:8000"


@strawberry.type(description="Who the credential speaks for.")
class Viewer:
    authorization: str = strawberry.field(description="The Authorization header as it arrived.")


@strawberry.type
class Query:
    @strawberry.field(description="Who the credential speaks for.")
    def viewer(self, info: strawberry.Info) -> Viewer:
        return Viewer(authorization=info.context["request"].headers.get("authorization", "none"))


class ShareCreate(BaseModel):
    name: str = Field(min_length=3, description="Shown to customers.")
    price_amount: int | None = Field(default=None, ge=1, le=99_999_999, description="In minor units.")
    workspace_id: UUID | None = Field(default=None, description="The workspace to make it in.")


class Share(ShareCreate):
    authorization: str = Field(description="The Authorization header as it arrived.")


def _visitors_context(_: Request) -> SimpleNamespace:
    """All that a page needs of its context: a caller without a limit."""
    budget = RequestBudget(RateLimiter(), 0, 0)
    return SimpleNamespace(caller=Caller(None, budget, "a visitor", "a request"))


def make_site() -> FastAPI:
    """The site; `BASE_URL` is not the port that a test serves it on."""
    site = FastAPI(
        title="Duograph",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        routes=page_routes(BASE_URL, AUTH_URL),
        servers=[{"url": AUTH_URL}],
    )
    site.state.context = _visitors_context
    schema = GraphQL(strawberry.Schema(Query), graphql_ide=None)

    @site.get("/graphql", include_in_schema=False)
    async def explorer() -> Response:
        return explorer_response()

    @site.get("/api/shares/{id}", tags=["Shares"], dependencies=[Depends(HTTPBearer(auto_error=False))])
    async def get_share(id: str, request: Request) -> Share:
        """A share by its id."""
        return Share(name=id, authorization=request.headers.get("authorization", "none"))

    @site.post("/api/shares/", tags=["Shares"], status_code=201)
    async def create_share(share: ShareCreate) -> Share:
        """Creates a share."""
        return Share(**share.model_dump(), authorization="none")

    @site.get("/health", include_in_schema=False)
    async def health() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    site.add_route("/graphql", schema, methods=["POST"])
    return site
