"""Keep the constant parts of templates for each language, and show plain text without the steps that cannot change it.

A page consists mostly of sentences, icons and addresses that are the same for all who read its language. Django's
nodes resolve, translate and escape each of them at every visit. When a template has been read, `fold` replaces each run
of neighbouring nodes that depend on nothing but the language by one node, which keeps what they make. Nothing that is
kept can be stale: a process has one catalogue, one set of addresses and one set of static files.

Folded are: text; `translate` and `blocktranslate` without values; `url` and `static` with literal arguments; and tags
that are declared `constant`, with literal arguments. What is put into a variable (`as`) is never folded.
"""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.template import Context
from django.template.base import FilterExpression, Node, NodeList, Template, TextNode, TokenType, Variable, VariableNode
from django.template.base import render_value_in_context as in_context
from django.template.defaulttags import CommentNode, LoadNode, URLNode
from django.template.library import SimpleBlockNode, SimpleNode
from django.template.loaders import base, cached
from django.templatetags.i18n import BlockTranslateNode, TranslateNode
from django.templatetags.static import StaticNode
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import get_language

Tag = TypeVar("Tag", bound=Callable[..., Any])
_constant: set[Callable[..., Any]] = set()


def constant(tag: Tag) -> Tag:
    """Declares that what a simple tag makes depends on its arguments and the language alone."""
    _constant.add(tag)
    return tag


class _Folding(base.Loader):
    def get_template(self, template_name: str, skip: Any = None) -> Template:
        template = super().get_template(template_name, skip)
        fold(template.nodelist)
        return template


class Loader(cached.Loader, _Folding):
    """Django's cached loader, which every process that renders pages has; each template is folded as it is read."""


class Constant(Node):
    """What a run of nodes makes, kept for each language."""

    child_nodelists = ()

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self._kept: dict[tuple[str | None, bool], SafeString] = {}

    def render(self, context: Context) -> SafeString:
        key = (get_language(), context.autoescape)
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = SafeString("".join(str(node.render_annotated(context)) for node in self.nodes))
        return kept


class PlainVariable(VariableNode):
    """A value: what is text already has no other time zone and no other spelling in a language."""

    def render(self, context: Context) -> SafeString:
        value = self.filter_expression.resolve(context)
        kind = type(value)
        if kind is SafeString:
            return value  # type: ignore[no-any-return]
        if kind is str:
            return SafeString(escape(value) if context.autoescape else value)
        return SafeString(in_context(value, context))


def fold(nodes: NodeList) -> None:
    """In place, so that what names a list of nodes, such as a block of a parent's, still names it."""
    for node in nodes:
        for within in _lists(node):
            fold(within)
    folded: list[Node] = []
    run: list[Node] = []
    for node in nodes:
        if _is_constant(node):
            run.append(node)
            continue
        folded += _joined(run)
        folded.append(_plain(node))
        run = []
    nodes[:] = [*folded, *_joined(run)]


def _joined(run: list[Node]) -> list[Node]:
    if all(isinstance(node, TextNode) for node in run):
        return list(run)
    return [Constant(list(run))]


def _plain(node: Node) -> Node:
    if type(node) is not VariableNode:
        return node
    plain = PlainVariable(node.filter_expression)
    plain.token, plain.origin = node.token, node.origin
    return plain


def _lists(node: Node) -> Iterator[NodeList]:
    """The lists of nodes within a node."""
    for value in vars(node).values():
        if isinstance(value, NodeList):
            yield value
    for _condition, within in getattr(node, "conditions_nodelists", ()):
        yield within


def _is_constant(node: Node) -> bool:
    kind = type(node)
    if kind in (TextNode, Constant, LoadNode, CommentNode):
        return True
    check = _CHECKS.get(kind)
    return check is not None and check(node)


def _is_literal(expression: Any) -> bool:
    if not isinstance(expression, FilterExpression) or expression.filters:
        return expression is None
    var = expression.var
    return var.literal is not None if isinstance(var, Variable) else True


def _translated(node: Any) -> bool:
    return not node.asvar and _is_literal(node.filter_expression) and _is_literal(node.message_context)


def _block_translated(node: Any) -> bool:
    plain = all(token.token_type is TokenType.TEXT for token in node.singular)
    named = node.asvar or node.extra_context or node.countervar or node.plural
    return plain and not named and _is_literal(node.message_context)


def _address(node: Any) -> bool:
    literal = all(map(_is_literal, (node.view_name, *node.args, *node.kwargs.values())))
    return literal and not node.asvar


def _static(node: Any) -> bool:
    return node.varname is None and _is_literal(node.path)


def _tag(node: Any) -> bool:
    literal = all(map(_is_literal, (*node.args, *node.kwargs.values())))
    return literal and node.func in _constant and node.target_var is None and not node.takes_context


def _block_tag(node: Any) -> bool:
    return _tag(node) and all(map(_is_constant, node.nodelist))


_CHECKS: dict[type[Node], Callable[[Any], bool]] = {
    TranslateNode: _translated,
    BlockTranslateNode: _block_translated,
    URLNode: _address,
    StaticNode: _static,
    SimpleNode: _tag,
    SimpleBlockNode: _block_tag,
}
