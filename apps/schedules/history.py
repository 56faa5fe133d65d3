"""The history of a schedule: each start, what became of it and why."""

from collections.abc import Mapping
from uuid import UUID

import django_tables2 as tables
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.common import markup
from apps.common.formatting import UNKNOWN, sentences
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import when
from apps.schedules.choices import REFUSALS, StartStatus, Why
from apps.schedules.models import Schedule, ScheduledStart
from apps.schedules.targets import Described, target_of


def look_of(start: ScheduledStart) -> str:
    """Which of the known states looks like it."""
    if start.status == StartStatus.SKIPPED:
        return "failed" if start.why in REFUSALS else "stopped"
    return "running" if start.status == StartStatus.STARTED else "queued"


def why_words(start: ScheduledStart) -> str:
    """Why it was skipped, with what the service said; empty for others."""
    return sentences(str(Why(start.why).label), start.detail) if start.why else ""


def missed_words(start: ScheduledStart) -> str:
    """For which earlier moments it stands as well."""
    if not start.missed:
        return ""
    words = ngettext("stands for %(n)s earlier moment", "stands for %(n)s earlier moments", start.missed)
    return words % {"n": start.missed}


class StartTable(Table):
    caption = _("History")
    moment = tables.Column(verbose_name=_("Moment"), attrs=column(width=FULL))
    status = tables.Column(verbose_name=_("State"), orderable=False, attrs=column(width=FULL))
    run = tables.Column(
        verbose_name=_("Its run"), orderable=False, empty_values=(), attrs=column(fold=_("Its run"), width=FULL)
    )

    started: Mapping[UUID, Described] = {}

    class Meta(Table.Meta):
        model = ScheduledStart
        fields = ()
        sequence = ("moment", "status", "run")
        order_by = "-moment"

    def render_moment(self, record: ScheduledStart) -> str:
        beside = " · ".join(filter(None, (str(record.get_cause_display()), missed_words(record))))
        return format_html('{}<span class="pl-sub">{}</span>', when(record.moment), beside)

    def render_status(self, record: ScheduledStart) -> str:
        badge = markup.state(look_of(record), record.get_status_display())
        return format_html('{}<span class="pl-sub">{}</span>', badge, why_words(record))

    def render_run(self, record: ScheduledStart) -> str:
        started_id = started_of(record)
        found = None if started_id is None else self.started.get(started_id)
        if found is None:
            return UNKNOWN
        badge = markup.state(found.status, found.status_label)
        return format_html('<a class="pl-name" href="{}">{}</a> {}', found.url, found.name, badge)


def started_of(start: ScheduledStart) -> UUID | None:
    """The id of what it has started."""
    return start.run_id or start.started_id


def describe_page(table: StartTable, schedule: Schedule) -> None:
    """Ask once for all that the page of the table shows."""
    rows = [row.record for row in table.paginated_rows]
    ids = [found for each in rows if (found := started_of(each)) is not None]
    table.started = target_of(schedule.target).describe_started(ids)
