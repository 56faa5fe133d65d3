"""The list of schedules: columns and filter."""

from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from apps.common import markup
from apps.common.filters import MineFilter
from apps.common.formatting import UNKNOWN
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import when
from apps.schedules.choices import ScheduleStatus
from apps.schedules.cron.expression import read_cron
from apps.schedules.cron.words import cron_words
from apps.schedules.models import Schedule
from apps.schedules.targets import target_of
from apps.workloads.filters import MembersWork

# Which of the known states looks like it.
LOOKS = {ScheduleStatus.ACTIVE: "running", ScheduleStatus.PAUSED: "queued", ScheduleStatus.ENDED: "stopped"}


def state_badge(schedule: Schedule) -> str:
    return markup.state(LOOKS[ScheduleStatus(schedule.status)], schedule.get_status_display())


def what_starts(schedule: Schedule) -> str:
    """The run by its name; of another thing what kind it is, so that a list asks no other app for each row."""
    run = schedule.run
    return str(target_of(schedule.target).label) if run is None else f"{run.name} v{run.version}"


class ScheduleTable(Table):
    caption = _("Schedules")
    export = "schedules"
    name = tables.Column(verbose_name=_("Name"), attrs=column(width=FULL))
    status = tables.Column(verbose_name=_("State"), attrs=column("pl-inline", width=FULL))
    cron = tables.Column(verbose_name=_("When"), orderable=False, attrs=column(fold=_("When"), width=FULL))
    next_at = tables.Column(verbose_name=_("Next start"), empty_values=(), attrs=column(fold=_("Next start")))
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )

    class Meta(Table.Meta):
        model = Schedule
        fields = ()
        sequence = ("name", "status", "cron", "next_at", "owner")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: reverse("schedules:detail", args=[record.pk])}

    def render_name(self, record: Schedule) -> str:
        return format_html(
            '<a class="pl-name" href="{}">{}</a><span class="pl-sub">{}</span>',
            reverse("schedules:detail", args=[record.pk]),
            record.name,
            what_starts(record),
        )

    def render_status(self, record: Schedule) -> str:
        why = record.get_pause_reason_display() if record.status == ScheduleStatus.PAUSED else ""
        return format_html('{}<span class="pl-sub">{}</span>', state_badge(record), why)

    def render_cron(self, value: str) -> str:
        return format_html('{}<span class="pl-sub pl-mono">{}</span>', cron_words(read_cron(value)), value)

    def render_next_at(self, record: Schedule) -> str:
        return when(record.next_at) if record.next_at else UNKNOWN


class ScheduleFilter(MembersWork):
    """Filters of the list; the URL holds their state."""

    sees_all = Permission.TRAINING_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name"), widget=search_box())
    status = django_filters.ChoiceFilter(label=_("State"), choices=ScheduleStatus.choices, empty_label=_("Any state"))
    mine = MineFilter()

    class Meta:
        model = Schedule
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        return rows.filter(name__icontains=value)
