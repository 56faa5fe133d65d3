"""The lists of pipelines and of their runs: columns and filter."""

from datetime import datetime
from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common import addresses, markup
from apps.common.filters import MineFilter
from apps.common.formatting import UNKNOWN
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import since, when
from apps.pipelines.choices import Cause, RunStatus
from apps.pipelines.models import Pipeline, PipelineRun
from apps.workloads.filters import MembersWork

_RUNS = pgettext_lazy("of a pipeline", "Runs")


class PipelineTable(Table):
    caption = _("Pipelines")
    export = "pipelines"
    name = tables.Column(verbose_name=_("Name"), attrs=column("o-1", width=FULL))
    last_status = tables.Column(
        verbose_name=_("Last run"), empty_values=(), orderable=False, attrs=column("pl-inline", width=FULL)
    )
    run_count = tables.Column(verbose_name=_RUNS, orderable=False, attrs=column(fold=_RUNS, numeric=True))
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )
    created_at = tables.Column(verbose_name=_("Made"), attrs=column(fold=_("Made")))

    class Meta(Table.Meta):
        model = Pipeline
        fields = ()
        sequence = ("name", "last_status", "run_count", "owner", "created_at")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: addresses.page_of("pipelines:detail", record.pk)}

    def render_name(self, record: Pipeline) -> str:
        return format_html(
            '<a class="pl-name" href="{}">{}</a><span class="pl-sub">v{}{}</span>',
            addresses.page_of("pipelines:detail", record.pk),
            record.name,
            record.newest,
            f" · {record.note}" if record.note else "",
        )

    def render_last_status(self, record: Any) -> str:
        if not record.last_status:
            return UNKNOWN
        return format_html(
            '{}<span class="pl-sub"><a class="pl-link" href="{}">#{}</a> · {}</span>',
            markup.state(record.last_status, RunStatus(record.last_status).label),
            addresses.page_of("pipelines:run", record.last_run_id),
            record.last_number,
            when(record.last_at),
        )

    def render_created_at(self, value: datetime) -> str:
        return when(value)


class PipelineFilter(MembersWork):
    sees_all = Permission.TRAINING_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name or note"), widget=search_box())
    status = django_filters.ChoiceFilter(
        field_name="last_status", label=_("Last run"), choices=RunStatus.choices, empty_label=_("Any state")
    )
    mine = MineFilter()

    class Meta:
        model = Pipeline
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Pipeline], name: str, value: str) -> QuerySet[Pipeline]:
        return rows.filter(Q(name__icontains=value) | Q(note__icontains=value))


class PipelineRunTable(Table):
    caption = _("Runs of the pipeline")
    number = tables.Column(verbose_name=_("Run"), attrs=column("o-1", width=FULL))
    status = tables.Column(verbose_name=_("State"), attrs=column("pl-inline", width=FULL))
    cause = tables.Column(verbose_name=_("Started by"), orderable=False, attrs=column(fold=_("Started by")))
    created_at = tables.Column(verbose_name=_("Started"), attrs=column(fold=_("Started")))
    took = tables.Column(
        verbose_name=_("Took"), empty_values=(), orderable=False, attrs=column(fold=_("Took"), numeric=True)
    )

    class Meta(Table.Meta):
        model = PipelineRun
        fields = ()
        sequence = ("number", "status", "cause", "created_at", "took")
        order_by = "-number"
        row_attrs = {"data-href": lambda record: addresses.page_of("pipelines:run", record.pk)}

    def render_number(self, record: PipelineRun) -> str:
        said = ", ".join(f"{name}={value}" for name, value in record.parameters.items())
        return format_html(
            '<a class="pl-name" href="{}">#{}</a><span class="pl-sub">v{}{}</span>',
            addresses.page_of("pipelines:run", record.pk),
            record.number,
            record.version.number,
            f" · {said[:80]}" if said else "",
        )

    def render_status(self, record: PipelineRun) -> str:
        return markup.state(record.status, record.get_status_display())

    def render_cause(self, record: PipelineRun) -> str:
        return format_html('{}<span class="pl-sub">{}</span>', Cause(record.cause).label, record.owner.display_name)

    def render_created_at(self, value: datetime) -> str:
        return when(value)

    def render_took(self, record: PipelineRun) -> str:
        if record.ended_at is None:
            return since(record.created_at)
        return since(record.ended_at - record.created_at, ticking=False)
