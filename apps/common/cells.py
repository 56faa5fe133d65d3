"""A column that is a small template."""

from functools import cache
from typing import Any

import django_tables2 as tables
from django.template import Context, Template
from django.template.loader import get_template


@cache
def _compiled(code: str) -> Template:
    return Template(code)


class Cell(tables.TemplateColumn):
    """Its context is `record`, `value` and `table`, not the page's: a list renders it hundreds of times.

    The library's own column compiles the text for each cell, or runs every context processor for each.
    """

    def render(self, record: Any, table: Any, value: Any, bound_column: Any, **kwargs: Any) -> str:
        context = Context({"record": record, "value": value, "table": table})
        if self.template_code:
            return _compiled(self.template_code).render(context)
        return str(get_template(self.template_name).template.render(context))  # type: ignore[attr-defined]
