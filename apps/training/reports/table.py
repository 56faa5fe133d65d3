"""The list of reports."""

from typing import Any

import django_tables2 as tables
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.actor import Actor
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import when
from apps.training.models import Report
from apps.training.reports.selectors import may_change

_CHANGED = pgettext_lazy("time", "Changed")


class ReportTable(Table):
    caption = _("Reports")
    name = tables.Column(verbose_name=_("Name"), attrs=column(width=FULL))
    runs = tables.Column(verbose_name=_("Runs"), orderable=False, attrs=column(fold=_("Runs"), numeric=True))
    owner = tables.Column(
        accessor="owner__display_name",
        order_by=("owner__name", "owner__username"),
        verbose_name=_("Owner"),
        attrs=column(fold=_("Owner")),
    )
    shared = tables.Column(verbose_name=_("Who finds it"), attrs=column(fold=_("Who finds it")))
    changed_at = tables.Column(verbose_name=_CHANGED, attrs=column(fold=_CHANGED))
    actions = tables.Column(accessor="pk", verbose_name="", orderable=False, attrs=column("pl-acts", numeric=True))

    class Meta(Table.Meta):
        model = Report
        fields = ("name", "runs", "owner", "shared", "changed_at", "actions")

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        self.actor = actor
        super().__init__(*args, **kwargs)

    def render_name(self, record: Report) -> str:
        url = reverse("training:report", args=[record.pk])
        return format_html('<a class="pl-name" href="{}">{}</a>', url, record.name)

    def render_runs(self, record: Report) -> str:
        return str(len(record.runs))

    def render_shared(self, record: Report) -> str:
        return str(_("The organisation") if record.shared else _("Only you"))

    def render_changed_at(self, record: Report) -> str:
        return when(record.changed_at)

    def render_actions(self, record: Report) -> str:
        if not may_change(self.actor, record):
            return ""
        edit, delete = (reverse(f"training:{name}_report", args=[record.pk]) for name in ("edit", "delete"))
        return format_html(
            '<a class="btn btn-sm" href="{}">{}</a> <a class="btn btn-sm" href="{}" hx-get="{}" '
            'hx-target="#pl-dialog">{}</a>',
            *(edit, _("Edit"), delete, delete, _("Delete…")),
        )
