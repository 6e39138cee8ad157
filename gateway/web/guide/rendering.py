"""Markdown to HTML. Only pages that are asked for import this module and its libraries."""

from collections.abc import Callable, MutableMapping, Sequence
from html import escape
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name

from gateway.web.guide.contents import Page, anchor

Environment = MutableMapping[str, Any]

_LANGUAGES = {"sh": "bash", "json": "json", "graphql": "graphql", "python": "python", "html": "html"}


class _Renderer(RendererHTML):
    """Writes tables that scroll, code with a copy button, and headings that can be linked to."""

    def table_open(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return '<div class="table" tabindex="0"><table>\n'

    def table_close(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        return "</table></div>\n"

    def heading_close(self, tokens: Sequence[Token], index: int, *_: Any) -> str:
        heading = tokens[index]
        if heading.tag == "h1":
            return "</h1>\n"
        title = tokens[index - 1].content.replace("`", "")
        label = escape(f"Link to: {title}", quote=True)
        return f' <a class="anchor" href="#{anchor(title)}" aria-label="{label}">#</a></{heading.tag}>\n'

    def fence(self, tokens: Sequence[Token], index: int, options: Any, env: Environment) -> str:
        block = tokens[index]
        env["blocks"] = number = env.get("blocks", 0) + 1
        language = _LANGUAGES.get(block.info.strip())
        code = escape(block.content) if language is None else _highlighted(block.content, language)
        button = f'<button type="button" class="copy" data-copy="code-{number}" hidden>Copy</button>'
        return (
            f'<div class="snippet"><pre tabindex="0"><code id="code-{number}">{code.rstrip()}</code></pre>'
            f"{button}</div>\n"
        )


def render(page: Page, written: Callable[[str], str]) -> str:
    """The page as HTML; `written` puts the gateway's addresses into its text."""
    parser = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    tokens = parser.parse(written(page.read_text))
    for before, token, following in zip([None, *tokens[:-1]], tokens, [*tokens[1:], None], strict=True):
        if token.type == "heading_open" and token.tag != "h1" and following is not None:
            token.attrSet("id", anchor(following.content))
        beside = {"th_open": following, "th_close": before}.get(token.type)
        if beside is not None and not beside.content:
            # Above the names of rows there is nothing that could be the heading of a column.
            token.tag = "td"
        if token.children:
            token.children = _linked(token.children, page)
    html: str = parser.renderer.render(tokens, parser.options, {})
    return html


def _linked(tokens: list[Token], page: Page) -> list[Token]:
    """The inline tokens with the addresses of served files; a link to another file becomes its text."""
    kept, open_links = [], []
    for token in tokens:
        if token.type == "link_open":
            address = _address(str(token.attrGet("href")), page)
            open_links.append(address is not None)
            if address is None:
                continue
            token.attrSet("href", address)
        elif token.type == "link_close" and not open_links.pop():
            continue
        elif token.type == "image":
            token.attrSet("src", _address(str(token.attrGet("src")), page) or "")
        kept.append(token)
    return kept


def _address(link: str, page: Page) -> str | None:
    if link.startswith("#") or ":" in link:
        return link
    file, mark, fragment = link.partition("#")
    target = page.target(file)
    return None if target is None else f"{target}{mark}{fragment}"


def _highlighted(code: str, language: str) -> str:
    html: str = highlight(code, get_lexer_by_name(language), HtmlFormatter(nowrap=True))
    return html
