"""Requests that grow: documents and values, to either surface, with and without credentials."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote_plus

from hypothesis import strategies as st

from tests.growth.documents import DOCUMENTS, Document
from tests.growth.values import HISTORY, VALUES, Value, write
from tests.support.callers.refusals import UNKNOWN_ID

JSON, FORM = "application/json", "application/x-www-form-urlencoded"
SHARE = {"name": "A report", "prices": [{"amount_type": "free"}]}


@dataclass(frozen=True)
class Growing:
    """A request by its size. `credential` is `none`, `wrong`, `workspace` or `personal`."""

    says: str
    credential: str
    method: str
    path: Callable[[int], str]
    body: Callable[[int], str]
    kind: str = JSON

    def __repr__(self) -> str:
        return f"{self.method} {self.says} by {self.credential}"


# Where a value stands in a body of REST: the path, its mutation and input type, and the body around it.
Place = tuple[str, str, str, Callable[[Any], Any]]
_SHARE = ("/api/shares/", "createShare", "ShareCreate")
_CUSTOMER = ("/api/customers/", "createCustomer", "CustomerCreate")
_EVENTS = ("/api/events/ingest", "ingestEvents", "EventIngest")
_SESSIONS = ("/api/file-share-sessions/ingest", "ingestFileShareSessions", "FileShareSessionIngest")
_FILE = ("/api/files/", "createFile", "FileCreate")
_CODE = ("/api/customer-portal/customer-session/request", "requestPortalCode", "PortalCodeRequest")
_CLIENT = ("/api/oauth2/register", "createOauthClient", "OAuthClientCreate")
_WORKSPACE = ("/api/workspaces/", "createWorkspace", "WorkspaceCreate")
_NEW_FILE = {"service": "downloadable", "name": "x"}
PLACES: tuple[Place, ...] = (
    (*_SHARE, lambda value: value),
    (*_SHARE, lambda value: SHARE | {"name": value}),
    (*_SHARE, lambda value: SHARE | {"metadata": value}),
    (*_SHARE, lambda value: SHARE | {"prices": value}),
    (*_SHARE, lambda value: SHARE | {"unknown": value}),
    (*_CUSTOMER, lambda value: {"email": value}),
    (*_CUSTOMER, lambda value: {"email": "a@example.com", "billing_address": value}),
    (*_EVENTS, lambda value: {"events": value}),
    (*_EVENTS, lambda value: {"events": [{"name": "a", "metadata": value}]}),
    (*_EVENTS, lambda value: {"events": [{"name": "a", "cost": {"amount": value, "currency": "usd"}}]}),
    (*_SESSIONS, lambda value: {"sessions": [HISTORY | {"downloads": value, "payments": value}]}),
    (*_FILE, lambda value: {**_NEW_FILE, "upload": {"parts": value}}),
    (*_CODE, lambda value: value),
    (*_CLIENT, lambda value: {"redirect_uris": value}),
    (*_WORKSPACE, lambda value: {"name": "x", "details": value}),
)
QUERIES = (
    "/api/shares/?#",
    f"/api/shares/{UNKNOWN_ID}?#",
    "/api/metrics/?start_date=2025-01-01&end_date=2025-01-02&interval=day&#",
    "/graphql?query={__typename}&#",
    "/oauth2/authorize?#",
    "/sign-in?#",
    "/.well-known/openid-configuration?#",
)
_OF_LISTS = ("limit=1", "metadata[k{}]=v", "sorting=name", "workspace_id=x", "metrics=x")
PARAMETERS = ("u{}", "u{}=x", "%{}", *_OF_LISTS)


def asks_document(credential: str, document: Document, value: Value | None) -> Growing:
    def body(size: int) -> str:
        sent: dict[str, Any] = {"query": document.write(size)}
        return write(sent if value is None else sent | {"variables": {"v": value.make(size)}})

    return Growing(f"/graphql {document}, v {value}", credential, "POST", lambda _: "/graphql", body)


def asks_mutation(credential: str, place: Place, value: Value) -> Growing:
    _, field, kind, around = place
    document = f"mutation($d: {kind}!) {{ {field}(data: $d) {{ __typename }} }}"

    def body(size: int) -> str:
        return write({"query": document, "variables": {"d": around(value.make(size))}})

    return Growing(f"{field} {around('#')} with {value}", credential, "POST", lambda _: "/graphql", body)


def asks_rest(credential: str, place: Place, value: Value) -> Growing:
    path, _, _, around = place
    says = f"{path} {around('#')} with {value}"
    return Growing(says, credential, "POST", lambda _: path, lambda size: write(around(value.make(size))))


def asks_query(credential: str, path: str, parameter: str) -> Growing:
    def grown(size: int) -> str:
        return path.replace("#", "&".join(parameter.format(number) for number in range(size)))

    return Growing(f"{path} with {parameter}", credential, "GET", grown, lambda _: "")


def asks_form(path: str, name: str, piece: str) -> Growing:
    def body(size: int) -> str:
        fields = (f"{name.format(number)}={quote_plus(piece)}" for number in range(size))
        return "grant_type=authorization_code&" + "&".join(fields)

    return Growing(f"{path} with {name}={piece!r}", "none", "POST", lambda _: path, body, FORM)


CREDENTIALS = st.sampled_from(("none", "wrong", "workspace", "personal"))
REQUESTS: st.SearchStrategy[Growing] = st.one_of(
    st.builds(asks_document, CREDENTIALS, DOCUMENTS, st.none() | VALUES),
    st.builds(asks_mutation, CREDENTIALS, st.sampled_from(PLACES), VALUES),
    st.builds(asks_rest, CREDENTIALS, st.sampled_from(PLACES), VALUES),
    st.builds(asks_query, CREDENTIALS, st.sampled_from(QUERIES), st.sampled_from(PARAMETERS)),
    st.builds(
        asks_form,
        st.sampled_from(("/api/oauth2/token", "/api/oauth2/introspect", "/sign-in", "/forgotten-password")),
        st.sampled_from(("u{}", "code", "email", "scope")),
        st.sampled_from(("", "x" * 20, "%", "\U0001f600", "a b")),
    ),
)
