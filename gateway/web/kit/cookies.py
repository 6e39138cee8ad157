"""Cookies of the pages: scripts cannot read them, and other sites' forms do not send them."""

from dataclasses import dataclass

from starlette.requests import HTTPConnection
from starlette.responses import Response

SESSION = "duograph_session"
VISITOR = "duograph_visitor"
NOTICE = "duograph_notice"
KNOWN = "duograph_known"
SECOND_STEP = "duograph_second_step"
LAST_WORKSPACE = "duograph_workspace"


@dataclass(frozen=True)
class Cookies:
    """HttpOnly and SameSite=Lax, always.

    If the pages are on https (`secure`), they are Secure too, and a prefix of their names makes browsers
    refuse them from other hosts of the domain (`__Host-`, or `__Secure-` for cookies of one path).
    """

    secure: bool

    def read(self, request: HTTPConnection, name: str, path: str = "/") -> str | None:
        return request.cookies.get(self._full(name, path))

    def write(
        self, response: Response, name: str, value: str, *, seconds: int | None = None, path: str = "/"
    ) -> None:
        """Store `value` for `seconds`, or until the browser is closed."""
        response.set_cookie(
            self._full(name, path),
            value,
            max_age=seconds,
            path=path,
            secure=self.secure,
            httponly=True,
            samesite="lax",
        )

    def clear(self, response: Response, name: str, path: str = "/") -> None:
        response.delete_cookie(
            self._full(name, path), path=path, secure=self.secure, httponly=True, samesite="lax"
        )

    def _full(self, name: str, path: str) -> str:
        if not self.secure:
            return name
        return f"__Host-{name}" if path == "/" else f"__Secure-{name}"
