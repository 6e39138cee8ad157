"""Who sends a request: its network address, credential, principal and budget."""

import re

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import Scope

from gateway.http.addresses import ClientAddresses
from gateway.http.paths.api_paths import is_api
from gateway.rate_limits.budget import RequestBudget
from gateway.web.kit.cookies import SESSION, Cookies
from gateway.web.kit.origins import is_same_origin
from oauth.authentication import assume, authenticate, authenticate_session
from oauth.credentials import bearer_of
from resolvers.operations.context import Caller
from resolvers.operations.http.sent_headers import SentHeaders
from resolvers.operations.limits.admission import admit
from rest_compat.protocols.oauth import OWN_AUTHENTICATION
from rest_compat.protocols.registration import CLIENT_PATH
from schema.errors import Invalid, InvalidToken, problem
from storage.engine.database import Database
from storage.engine.lending.payers import Payer

_IDEMPOTENCY_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_OWN_AUTHENTICATION = (*OWN_AUTHENTICATION, CLIENT_PATH)


class Callers:
    """Makes the `Caller` of each request; `own_origin` is the origin of our own pages."""

    def __init__(self, database: Database, addresses: ClientAddresses, own_origin: str) -> None:
        self._database = database
        self._addresses = addresses
        self._own_origin = own_origin
        self._cookies = Cookies(secure=own_origin.startswith("https:"))

    async def of(
        self,
        scope: Scope,
        headers: SentHeaders,
        budget: RequestBudget,
        request_id: str,
        *,
        authenticates: bool,
        assumes: bool = False,
    ) -> Caller:
        """The caller; one that `assumes` a known credential to be unchanged may have to `confirm` it.

        Raises `InvalidToken` or `Invalid`, which cost a call, or `RateLimited`.
        """
        address = self._addresses.of(scope, headers)
        principal, credential, assumed = None, None, None
        if authenticates:
            authorization = headers.get(b"authorization")
            if authorization is not None:
                credential = bearer_of(authorization.decode("latin-1"))
            if credential is not None:
                if assumes and b"idempotency-key" not in headers:
                    assumed = assume(self._database, credential)
                principal = (
                    await authenticate(self._database, credential) if assumed is None else assumed.principal
                )
                if principal is None:
                    await budget.charge(address, 1, None, restricted=False)
                    raise InvalidToken
            elif authorization is None and (session := self._session(scope, headers)) is not None:
                # An ended session is not an error: browsers keep sending its cookie.
                principal, credential = await authenticate_session(self._database, session), session
        try:
            key = _idempotency_key(scope, headers)
        except Invalid:
            await admit(Caller(principal, budget, address, request_id), [])
            raise
        payer = budget.payer = Payer(address if principal is None else principal.pool_key)
        return Caller(principal, budget, address, request_id, key, credential, assumed, payer=payer)

    def address_of(self, scope: Scope, headers: SentHeaders) -> str:
        """The network address of a request as the log has it: of IPv6 the network, or `unknown`."""
        return self._addresses.of(scope, headers).removeprefix("address:")

    def _session(self, scope: Scope, headers: SentHeaders) -> str | None:
        """The session in the cookie, accepted only in requests from our own pages."""
        if b"cookie" not in headers:
            return None
        if not is_same_origin(Headers(scope=scope), scope["scheme"], self._own_origin):
            return None
        return self._cookies.read(HTTPConnection(scope), SESSION)


def takes_credentials(path: str) -> bool:
    """Whether requests to this path or template may have a bearer credential or a session's cookie."""
    return is_api(path) and not path.startswith(_OWN_AUTHENTICATION)


def _idempotency_key(scope: Scope, headers: SentHeaders) -> str | None:
    sent = headers.get(b"idempotency-key")
    if sent is None or scope["method"] not in ("POST", "PATCH"):
        return None
    key = sent.decode("latin-1")
    if not _IDEMPOTENCY_KEY.fullmatch(key):
        message = "An `Idempotency-Key` is 1 to 255 visible ASCII characters"
        raise Invalid([problem(("header", "Idempotency-Key"), message, "idempotency_key")])
    return key
