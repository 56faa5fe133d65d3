"""Rows of lists: what is put together without a template is escaped, ordered and empty as with one."""

from typing import Any

import django_tables2 as tables
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils.safestring import mark_safe

from apps.common.markup import menu
from apps.common.tables import Table, column

EVIL = '<script>alert("1")</script>'


class Names(Table):
    name = tables.Column(verbose_name="Name", attrs=column(fold="Name & more"))
    note = tables.Column(verbose_name="Note", default="nothing")
    acts = tables.Column(verbose_name="", empty_values=(), orderable=False, attrs=column(numeric=True))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: f"/{record['name']}/"}

    def render_acts(self, record: dict[str, Any], bound_row: Any) -> str:
        return mark_safe(f"<b>{bound_row.row_counter}</b>")


class Others(Names):
    def render_acts(self, record: dict[str, Any], column: Any) -> str:
        return f"{record['note']} {column.verbose_name!r}"


def rows(table: Table) -> str:
    html = render_to_string("components/table.html", {"table": table, "request": RequestFactory().get("/")})
    return html.partition("<tbody>")[2].partition("</tbody>")[0]


def test_cells_are_escaped_unless_a_column_says_that_they_are_safe() -> None:
    html = rows(Names([{"name": EVIL, "note": "a & b"}]))
    assert EVIL not in html
    assert "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;" in html
    assert "a &amp; b</td>" in html
    assert "<b>0</b>" in html


def test_attributes_of_rows_are_each_rows_own_and_those_of_cells_their_columns() -> None:
    html = rows(Names([{"name": "one", "note": "x"}, {"name": 'two"', "note": None}]))
    assert html.count("<tr ") == 2
    assert 'data-href="/one/"' in html
    assert 'data-href="/two&quot;/"' in html
    assert html.count('data-l="Name &amp; more"') == 2
    assert html.count("nothing") == 1


def test_a_list_without_rows_says_so() -> None:
    table = Names([], empty_text="None of them")
    assert "None of them" in rows(table)
    assert 'colspan="3"' in rows(table)


def test_columns_of_two_lists_with_one_name_take_what_each_asks_for() -> None:
    """What a method asks for is read once, for that method."""
    for _again in range(2):
        assert "<b>0</b>" in rows(Names([{"name": "one", "note": "x"}]))
        assert "x &#x27;&#x27;" in rows(Others([{"name": "one", "note": "x"}]))


def test_a_menu_takes_items_with_any_of_its_names() -> None:
    html = menu(EVIL, [{"label": "Open", "url": "/a/?b=1&c=2"}, {"label": "Stop", "hx_get": "/s/", "danger": True}])
    assert EVIL not in html
    assert '<a class="dropdown-item" href="/a/?b=1&amp;c=2">Open</a>' in html
    assert (
        '<button class="dropdown-item danger" type="button" hx-get="/s/" hx-target="#pl-dialog">Stop</button>' in html
    )
