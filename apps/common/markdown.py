"""Markdown that people write for others, as HTML for a page: without HTML of theirs, or pictures from elsewhere."""

from collections.abc import Sequence

from django.utils.safestring import SafeString
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Raw HTML is text in this preset, and addresses of scripts are no links. A picture would tell its server who reads.
_MARKDOWN = MarkdownIt("js-default").disable("image")


def parse(text: str) -> list[Token]:
    """The tokens of a text, to be drawn by `render` as a whole or in parts of whole blocks."""
    return _MARKDOWN.parse(text)


def render(tokens: Sequence[Token]) -> SafeString:
    """Headings are one level lower, since a page has its own first one; links do not tell where they stand."""
    for token in tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"
        for child in token.children or ():
            if child.type == "link_open":
                child.attrSet("rel", "noopener noreferrer nofollow")
    return SafeString(_MARKDOWN.renderer.render(tokens, _MARKDOWN.options, {}))


def to_html(text: str) -> SafeString:
    return render(parse(text))
