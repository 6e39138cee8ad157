"""`/.well-known/`: the OpenID provider, the keys of its id_tokens, and who hears of weaknesses."""

from datetime import timedelta
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from gateway.rate_limits.charging import charged
from oauth.provider.authorization import PROMPTS
from oauth.provider.clients import CONFIDENTIAL_METHODS, RESPONSE_TYPE, AuthMethod
from oauth.provider.grants import GRANT_TYPES
from oauth.provider.keys import ALGORITHM, published_keys, signing_key
from oauth.scopes import CLIENT_SCOPES
from resolvers.operations.context import Services
from rest_compat.protocols.oauth import INTROSPECT, REVOKE, TOKEN, USERINFO
from rest_compat.protocols.registration import REGISTER
from schema.values.scalars import write_moment
from storage.clock import now

AUTHORIZE_PATH = "/oauth2/authorize"

_WELL_KNOWN = "/.well-known"
# A rotated key signs at once; clients that cache the set longer fetch it again at an unknown `kid`.
_KEEP = {"Cache-Control": "public, max-age=300"}


def discovery_routes() -> list[Route]:
    """The provider's metadata, at both of its addresses, its JWK Set, and security.txt."""

    async def show_metadata(request: Request) -> JSONResponse:
        return JSONResponse(metadata(request.app.state.services), headers=_KEEP)

    async def show_keys(request: Request) -> JSONResponse:
        services: Services = request.app.state.services
        await signing_key(services.database, services.secret_key)
        async with services.database.read() as connection:
            return JSONResponse({"keys": await published_keys(connection)}, headers=_KEEP)

    async def show_contact(request: Request) -> PlainTextResponse:
        services: Services = request.app.state.services
        if services.security_contact is None:
            raise HTTPException(404)
        return PlainTextResponse(security_text(services.security_contact, services.auth_url), headers=_KEEP)

    return [
        Route(f"{_WELL_KNOWN}/security.txt", charged(show_contact)),
        Route(f"{_WELL_KNOWN}/openid-configuration", charged(show_metadata)),
        Route(f"{_WELL_KNOWN}/oauth-authorization-server", charged(show_metadata)),
        Route(f"{_WELL_KNOWN}/jwks.json", charged(show_keys)),
    ]


def security_text(contact: str, address: str) -> str:
    """Where weaknesses are reported (RFC 9116). It is read anew, so it always expires in half a year."""
    expires = (now() + timedelta(days=180)).replace(hour=0, minute=0, second=0, microsecond=0)
    lines = {
        "Contact": contact,
        "Expires": write_moment(expires),
        "Preferred-Languages": "en",
        "Canonical": f"{address}{_WELL_KNOWN}/security.txt",
    }
    return "".join(f"{name}: {value}\n" for name, value in lines.items())


def metadata(services: Services) -> dict[str, Any]:
    """OpenID Connect Discovery 1.0 and RFC 8414 in one."""
    protocol = f"{services.base_url}/oauth2"
    return {
        "issuer": services.auth_url,
        "authorization_endpoint": services.auth_url + AUTHORIZE_PATH,
        "token_endpoint": protocol + TOKEN,
        "userinfo_endpoint": protocol + USERINFO,
        "revocation_endpoint": protocol + REVOKE,
        "introspection_endpoint": protocol + INTROSPECT,
        "registration_endpoint": protocol + REGISTER,
        "jwks_uri": f"{services.auth_url}{_WELL_KNOWN}/jwks.json",
        "scopes_supported": sorted(CLIENT_SCOPES),
        "response_types_supported": [RESPONSE_TYPE],
        "response_modes_supported": ["query"],
        "grant_types_supported": list(GRANT_TYPES),
        "token_endpoint_auth_methods_supported": list(AuthMethod),
        "revocation_endpoint_auth_methods_supported": list(AuthMethod),
        "introspection_endpoint_auth_methods_supported": list(CONFIDENTIAL_METHODS),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ALGORITHM],
        "claim_types_supported": ["normal"],
        "claims_supported": [
            *("iss", "sub", "aud", "iat", "exp", "auth_time", "nonce", "at_hash"),
            *("email", "email_verified", "name", "workspace"),
        ],
        "prompt_values_supported": list(PROMPTS),
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }
