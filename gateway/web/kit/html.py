"""HTML responses: templates and security headers."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from gateway.web.kit.assets import asset_url
from gateway.web.kit.languages import NAMES
from gateway.web.kit.moments import shown_in, write_moment
from gateway.web.words.messages import in_language
from gateway.web.words.scripts import passkey_words, password_words
from schema.errors import LARGEST_ANSWER, AnswerTooLarge
from schema.languages.speech import current_speech
from schema.languages.templates import translate
from schema.values.prose import write_date, write_number, write_size

TEMPLATE_FOLDER = Path(__file__).parents[1] / "templates"


def content_security_policy(**sources: str) -> str:
    """The strict policy of all pages; an argument such as `style_src` replaces a directive's sources."""
    directives = {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "connect-src": "'self'",
        "img-src": "'self' data:",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
    } | {name.replace("_", "-"): value for name, value in sources.items()}
    return "; ".join(f"{name} {value}" for name, value in directives.items())


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=FileSystemLoader(TEMPLATE_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.globals["asset"] = asset_url
    templates.globals["speech"] = current_speech
    templates.filters["moment"] = write_moment
    templates.filters["date"] = write_date
    templates.filters["number"] = write_number
    templates.filters["size"] = write_size
    templates.globals["in_language"] = in_language
    templates.globals["password_words"] = password_words
    templates.globals["passkey_words"] = passkey_words
    templates.globals["languages"] = NAMES
    translate(templates)
    return templates


def html_page(
    template: str,
    policy: str | None = None,
    status_code: int = 200,
    *,
    zone: str | None = None,
    **values: Any,
) -> HTMLResponse:
    """The template with `values`; `policy` is a Content-Security-Policy, by default the strictest.

    Moments are shown in `zone`, if there is one. Raises `AnswerTooLarge`.
    """
    headers = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": policy or content_security_policy(),
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    with shown_in(zone):
        page = HTMLResponse(_templates().get_template(template).render(values), status_code, headers)
    if len(page.body) > LARGEST_ANSWER:
        raise AnswerTooLarge
    return page
