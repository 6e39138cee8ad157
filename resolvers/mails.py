"""Mails from templates: the same words as text and as HTML."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape

from resolvers.context import Context
from storage.mails import Mail, write_mails

TEMPLATE_FOLDER = Path(__file__).parent / "mail_templates"


@cache
def _templates() -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATE_FOLDER),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def make_mail(to: str, template: str, **values: Any) -> Mail:
    """The mail of the template's two files; the first line of `{template}.txt` is the subject.

    Line breaks within a value become spaces: no name can write lines of its own.
    """
    said = _in_lines(values)
    rendered = _templates().get_template(f"{template}.txt").render(said)
    subject, _, text = rendered.partition("\n\n")
    html = _templates().get_template(f"{template}.html").render(said, subject=subject)
    return Mail(to, subject, text, html)


def _in_lines(value: Any) -> Any:
    if isinstance(value, str):
        return " ".join(value.split())
    if isinstance(value, list):
        return [_in_lines(item) for item in value]
    return {name: _in_lines(item) for name, item in value.items()} if isinstance(value, dict) else value


async def send_mails(ctx: Context, mails: Sequence[Mail], workspace_id: UUID | None = None) -> None:
    """Have mails sent once the change in progress is committed."""
    if not mails:
        return
    await write_mails(ctx.unit, mails, workspace_id)

    async def wake() -> None:
        ctx.services.wake_delivery()

    ctx.afterwards.append(wake)
