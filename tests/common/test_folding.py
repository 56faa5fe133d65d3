"""Folded templates say what they say unfolded, in every language, however often they are shown."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from django.template import Context, Engine
from django.template.base import TextNode
from django.urls import get_resolver
from django.utils.safestring import mark_safe
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from apps.common.folding import Constant

PLAIN = "django.template.loaders.cached.Loader"
FOLDED = "apps.common.folding.Loader"
LANGUAGES = ("en", "zh-hans", None)
VALUES: dict[str, Any] = {
    "text": "<b>“R&D”</b>",
    "safe": mark_safe("<i>safe</i>"),
    "number": 1234567,
    "money": Decimal("1234.50"),
    "at": datetime(2026, 11, 27, 12, 30, tzinfo=UTC),
    "nothing": None,
    "many": ["<1>", "two"],
}
CONSTANTS = (
    "text & <b>markup</b>",
    '{% translate "Overview" %}',
    '{% translate "Overview" context "console" %}',
    "{% blocktranslate %}Nothing needs you{% endblocktranslate %}",
    '{% url "portal:overview" %}',
    '{% static "img/icon.svg" %}',
    '{% icon "plus" %}',
    '{% icon "check" classes="a" %}',
    '{% tag _("Overview") %}',
    "{% sim %}",
    '{% note "warn" _("Overview") %}<p>{% translate "Overview" %}</p>{% endnote %}',
)
VARYING = (
    '{% translate "Overview" as word %}{{ word }}',
    "{% translate text %}",
    "{% blocktranslate with n=number %}Mine {{ n }}{% endblocktranslate %}",
    '{% url "training:new" as there %}{{ there }}',
    '{% static "img/icon.svg" as there %}{{ there }}',
    '{% url "portal:overview" as there %}{% if there %}<a href="{{ there }}">{% translate "Overview" %}</a>{% endif %}',
    '{% note "warn" %}{{ text }}{% endnote %}',
    '{% tag text %}{% translate "Overview"|upper %}',
    "{{ text }}",
    "{{ safe }}",
    "{{ number }}",
    "{{ money }}",
    "{{ at }}",
    "{{ nothing }}",
    "{{ unknown }}",
    "{{ text|upper }}",
    "{{ many.0 }}",
    "{{ _('Overview') }}",
    '{% include "part.html" with number=3 %}',
)
WITHIN = (
    "%s",
    "{%% if number %%}%s{%% else %%}no{%% endif %%}",
    "{%% for text in many %%}%s{%% empty %%}none{%% endfor %%}",
    "{%% with text=safe %%}%s{%% endwith %%}",
    "{%% autoescape off %%}%s{%% endautoescape %%}",
    "{%% block second %%}%s{%% endblock %%}",
)
PART = '{% load pl %}<td>{% icon "plus" %}{% translate "Overview" %}{{ number }}</td>'
BASE = "{% load pl %}<h1>{% translate 'Overview' %}</h1>{% block first %}{% icon 'plus' %}{% endblock %}<hr>"


def engine(loader: str, **templates: str) -> Engine:
    own: Any = settings.TEMPLATES[0]["OPTIONS"]
    libraries = {"pl": "apps.common.templatetags.pl"}
    named = {f"{name}.html": text for name, text in templates.items()}
    loaders = [(loader, [("django.template.loaders.locmem.Loader", named)])]
    return Engine(loaders=loaders, libraries=libraries, builtins=own["builtins"])


def shown(loader: str, page: str) -> list[str]:
    """The page twice in each language."""
    made = engine(loader, page=page, base=BASE, part=PART)
    found: list[str] = []
    for language in LANGUAGES * 2:
        with override(language):
            found.append(made.get_template("page.html").render(Context(dict(VALUES))))
    return found


pieces = st.tuples(st.sampled_from(WITHIN[:-1]), st.lists(st.sampled_from(CONSTANTS + VARYING), max_size=4))


@given(parts=st.lists(pieces, max_size=4), extends=st.booleans())
def test_a_folded_page_reads_as_it_did(parts: list[tuple[str, list[str]]], extends: bool) -> None:
    body = "".join(around % "".join(within) for around, within in parts)
    page = f"{{% load pl %}}{body}"
    if extends:
        block = f"{{% block first %}}{{{{ block.super }}}}{body}{{% endblock %}}"
        page = f'{{% extends "base.html" %}}{{% load pl %}}{block}'
    assert shown(FOLDED, page) == shown(PLAIN, page)


@pytest.mark.parametrize("constant", CONSTANTS[1:])
def test_what_depends_on_the_language_alone_is_one_piece(constant: str) -> None:
    page = engine(FOLDED, page=f"{{% load pl %}}<p>{constant}</p>").get_template("page.html")
    assert [type(node) for node in page.nodelist] == [Constant]


@pytest.mark.parametrize("varying", VARYING)
def test_what_depends_on_a_value_is_not_kept(varying: str) -> None:
    nodes = engine(FOLDED, page=f"{{% load pl %}}{varying}", part=PART).get_template("page.html").nodelist
    assert any(not isinstance(node, Constant | TextNode) for node in nodes)


def test_neighbouring_text_stays_text() -> None:
    page = engine(FOLDED, page="a{# b #}c").get_template("page.html")
    assert "".join(node.render(Context()) for node in page.nodelist) == "ac"


def test_an_address_is_the_same_on_every_page() -> None:
    """A namespace that was there twice would name its pages by the page that asks."""
    assert all(len(instances) == 1 for instances in get_resolver().app_dict.values())
