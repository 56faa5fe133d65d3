"""The operation log as a list: its columns and filters; page and API share the filters."""

from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.models import Entry, concerns_money
from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.audit.actions import ACTIONS
from apps.console.audit.selectors import name_objects, organisation_names
from apps.console.audit.words import TARGETS
from apps.console.kit.filters import BetweenDays, OrganisationFilter, day_filter


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
        found = [row.record for row in page.object_list] if page else []
        self.names = organisation_names(found)
        name_objects(found)

    def render_organisation(self, record: Entry) -> str:
        return (
            "—"
            if record.organisation_id is None
            else self.names.get(record.organisation_id, str(record.organisation_id))
        )


class AuditFilter(BetweenDays):
    who = django_filters.CharFilter(
        field_name="actor_label", lookup_expr="icontains", label=_("Who"), widget=search_box(16)
    )
    action = django_filters.ChoiceFilter(
        choices=sorted(ACTIONS.items()), label=_("Action"), empty_label=_("Any action")
    )
    target_type = django_filters.ChoiceFilter(
        choices=sorted(TARGETS.items()), label=_("Kind of object"), empty_label=_("Any object")
    )
    target = django_filters.CharFilter(method="by_target", label=_("Object's name or id"))
    organisation = OrganisationFilter()
    since = day_filter("from_day", _("From"))
    until = day_filter("to_day", _("To"))

    class Meta:
        model = Entry
        fields: tuple[str, ...] = ()

    def by_target(self, rows: QuerySet[Entry], name: str, value: str) -> QuerySet[Entry]:
        return rows.filter(Q(target_label__icontains=value) | Q(target_id=value))


class MoneyAuditFilter(AuditFilter):
    """The same for what concerns money, with only its actions to choose from."""

    action = django_filters.ChoiceFilter(
        choices=sorted((code, words) for code, words in ACTIONS.items() if concerns_money(code)),
        label=_("Action"),
        empty_label=_("Any action"),
    )
