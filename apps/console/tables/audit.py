"""The operation log."""

from typing import Any

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.audit.models import Entry
from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.console.selectors.audit import organisation_names


class AuditTable(Table):
    caption = _("Operations")
    at = Cell(
        "{% load pl %}<span class='pl-nowrap'>{% when record.at seconds=True %}</span>",
        verbose_name=_("When"),
        orderable=False,
        attrs=column("o-2", numeric=True, width="c-2"),
    )
    who = Cell(
        template_name="console/cells/audit_who.html",
        verbose_name=_("Who"),
        orderable=False,
        attrs=column("o-1", width="c-4"),
    )
    action = Cell(
        '{% load console %}{{ record.action|action_label }}<span class="pl-sub pl-code">{{ record.action }}</span>',
        verbose_name=_("Action"),
        orderable=False,
        attrs=column("pl-inline", width=FULL),
    )
    target = Cell(
        template_name="console/cells/audit_target.html",
        verbose_name=_("Object"),
        orderable=False,
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        empty_values=(),
        verbose_name=_("Organisation"),
        orderable=False,
        attrs=column(fold=_("Organisation"), width=FULL),
    )
    changed = Cell(
        template_name="console/cells/audit_changes.html",
        verbose_name=_("Before → after"),
        orderable=False,
        attrs=column(width=FULL),
    )

    class Meta(Table.Meta):
        sequence = ("at", "who", "action", "target", "organisation", "changed")

    def before_render(self, request: Any) -> None:
        """Names of this page's organisations, once."""
        page = getattr(self, "page", None)
        self.names = organisation_names([row.record for row in page.object_list] if page else [])

    def render_organisation(self, record: Entry) -> str:
        return (
            "—"
            if record.organisation_id is None
            else self.names.get(record.organisation_id, str(record.organisation_id))
        )
