"""The list of experiments: columns and filter."""

from datetime import datetime
from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from apps.automl.choices import ExperimentStatus
from apps.automl.models import Experiment
from apps.common import addresses, markup
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import when
from apps.workloads.filters import MembersWork


class ExperimentTable(Table):
    caption = _("Tuning experiments")
    export = "experiments"
    name = tables.Column(verbose_name=_("Name and run"), attrs=column("o-1", width=FULL))
    status = tables.Column(
        verbose_name=_("State"), order_by=("status", "-created_at"), attrs=column("pl-inline", width=FULL)
    )
    trials = tables.Column(
        accessor="trial_count", verbose_name=_("Trials"), orderable=False, attrs=column(fold=_("Trials"), numeric=True)
    )
    metric = tables.Column(
        accessor="objectives", verbose_name=_("Metric"), orderable=False, attrs=column(fold=_("Metric"))
    )
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )
    created_at = tables.Column(verbose_name=_("Started"), attrs=column(fold=_("Started")))

    class Meta(Table.Meta):
        model = Experiment
        fields = ()
        sequence = ("name", "status", "trials", "metric", "owner", "created_at")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: addresses.page_of("tuning:detail", record.pk)}

    def render_name(self, record: Experiment) -> str:
        return format_html(
            '<a class="pl-name" href="{}">{}</a><span class="pl-sub">{} v{}</span>',
            addresses.page_of("tuning:detail", record.pk),
            record.name,
            record.template.name,
            record.template.version,
        )

    def render_status(self, record: Experiment) -> str:
        return markup.state(record.status, record.get_status_display())

    def render_trials(self, value: int, record: Any) -> str:
        below = [(_("%(n)s running"), record.live_count), (_("%(n)s failed"), record.failed_count)]
        said = " · ".join(str(words % {"n": count}) for words, count in below if count)
        return format_html('{} / {}<span class="pl-sub">{}</span>', value, record.most_trials, said)

    def render_metric(self, value: list[dict[str, Any]]) -> str:
        return ", ".join(each["metric"] for each in value)

    def render_created_at(self, value: datetime) -> str:
        return when(value)


class ExperimentFilter(MembersWork):
    sees_all = Permission.TRAINING_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name or note"), widget=search_box())
    status = django_filters.ChoiceFilter(label=_("State"), choices=ExperimentStatus.choices, empty_label=_("Any state"))
    mine = MineFilter()

    class Meta:
        model = Experiment
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Experiment], name: str, value: str) -> QuerySet[Experiment]:
        return rows.filter(Q(name__icontains=value) | Q(note__icontains=value) | Q(template__name__icontains=value))
