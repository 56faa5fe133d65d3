"""The list of training runs: columns and filter."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.forms import HiddenInput
from django.template.loader import render_to_string
from django.utils.html import format_html
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from apps.common import addresses, markup
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.filters import MineFilter
from apps.common.formatting import UNKNOWN, duration
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.common.templatetags.pl import since, when
from apps.common.templatetags.pl_filters import rate_amount
from apps.tracking.filtering import metric_condition, metric_validator
from apps.tracking.value_columns import ValueColumn
from apps.training.columns import table_columns
from apps.training.metric_pages import progress_of
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.filters import MembersWork, StatusFilter, TagFilter
from apps.workloads.models import Workload
from apps.workloads.selectors import STALE_AFTER
from apps.workloads.templatetags.tagging import tag_chips
from apps.workloads.templatetags.workloads import end_title, ran_seconds, taken_packages, wait_ahead, wait_title

# Reasons of an end that the row names.
TOLD = {"arrears", "longest", "gpu_idle", "unauthorised", "mount_lost", "secret_lost", "image_blocked"}
LONGEST_WHY = 60
ARCHIVE = ("archive", _("Archive…"), "archive")


class RunTable(Table):
    """Its cells are functions: most of what the page cost was spent in a template for each.

    `chosen`: metrics and parameters whose values the rows have (`training.columns`).
    """

    caption = _("Training runs")
    export = "runs"
    ticking = ("duration",)
    unread = ("last_seen",)
    name = tables.Column(verbose_name=_("Name and package"), attrs=column(width=FULL))
    status = tables.Column(
        accessor="workload",
        verbose_name=_("State"),
        order_by=("workload__status", "-created_at"),
        attrs=column("pl-inline", width=FULL),
    )
    owner = tables.Column(
        accessor="owner__display_name",
        verbose_name=_("Owner"),
        order_by=("owner__name", "owner__username"),
        attrs=column("pl-roomy", fold=_("Owner")),
    )
    created_at = tables.Column(verbose_name=_("Submitted"), attrs=column(fold=_("Submitted")))
    duration = tables.Column(
        accessor="workload",
        verbose_name=_("Ran for"),
        orderable=False,
        attrs=column(fold=_("Ran for"), numeric=True),
    )
    rate = tables.Column(
        accessor="paid_rate",
        verbose_name=_("¥/h"),
        order_by=("workload__price_version__rate_fen_per_hour", "-created_at"),  # stored: quick for any length
        attrs=column(fold=_("¥/h"), numeric=True),
    )
    actions = tables.Column(accessor="pk", verbose_name="", orderable=False, attrs=column("pl-corner", numeric=True))

    class Meta(Table.Meta):
        model = Run
        fields = ()
        sequence = ("name", "status", "owner", "created_at", "duration", "rate", "actions")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: addresses.page_of("training:detail", record.pk)}

    def __init__(self, *args: Any, chosen: Sequence[ValueColumn] = (), **kwargs: Any) -> None:
        if chosen:
            first, rest = self._meta.sequence[:2], self._meta.sequence[2:]
            kwargs["extra_columns"] = table_columns(chosen)
            kwargs["sequence"] = (*first, *(each.key for each in chosen), *rest)
        super().__init__(*args, **kwargs)
        self.now: datetime = db_now()

    def kept_beside(self, record: Run) -> tuple[Any, ...]:
        """Who may not submit has a shorter menu."""
        return (
            self._unseen_since(record),
            said_so_far(record.workload),
            self.request.actor.may(Permission.TRAINING_SUBMIT),
        )

    def render_name(self, record: Run) -> str:
        workload = record.workload
        return format_html(
            '<a class="pl-name" href="{}">{}</a>{}{}<span class="pl-sub">{} · {}</span>{}',
            addresses.page_of("training:detail", record.pk),
            record.name,
            format_html(' <span class="pl-mute">v{}</span>', record.version) if record.version > 1 else "",
            _marks(record),
            taken_packages(workload),
            record.image.name,
            _tags(workload.tags) if workload.tags else "",
        )

    def render_created_at(self, value: datetime) -> str:
        return when(value)

    def render_duration(self, value: Workload) -> str:
        if value.started_at is None:
            return UNKNOWN
        return duration(ran_seconds(value)) if value.ended_at else since(value.started_at)

    def render_rate(self, value: Decimal) -> str:
        return rate_amount(value)

    def render_status(self, record: Run) -> str:
        unseen_since = self._unseen_since(record)
        if unseen_since is not None:
            seen = when(unseen_since, seconds=True)
            return format_html('{}<span class="pl-sub">{} {}</span>', markup.state("stale"), _("last seen"), seen)
        return format_html(
            "{}{}", markup.state(record.workload.status, record.workload.get_status_display()), _below(record.workload)
        )

    def _unseen_since(self, record: Run) -> datetime | None:
        """`last_seen` comes with the list's query; if it is older than a few checks, the state is unknown."""
        last_seen: datetime | None = getattr(record, "last_seen", None)
        return last_seen if last_seen is not None and self.now - last_seen > STALE_AFTER else None

    def render_actions(self, record: Run) -> str:
        return markup.menu(record.name, _menu(self.request.actor, record))


class RunFilter(MembersWork):
    """Filters of the list; the URL holds their state."""

    sees_all = Permission.TRAINING_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name or note"), widget=search_box())
    status = StatusFilter("workload__")
    tag = TagFilter("workload__")
    mine = MineFilter()
    metric = django_filters.CharFilter(
        method="by_metric", label=_("Metric, such as loss<0.3"), validators=[metric_validator], max_length=300
    )
    archived = django_filters.ChoiceFilter(
        method="of_archive",
        label=_("Archive"),
        choices=[("only", _("Archived")), ("all", _("Archived or not"))],
        empty_label=_("Not archived"),
    )
    trials = django_filters.ChoiceFilter(
        method="of_experiments",
        label=_("Trials"),
        choices=[("only", _("Trials alone")), ("all", _("With trials"))],
        empty_label=_("Without trials"),
    )
    experiment = django_filters.UUIDFilter(field_name="trial_of", label=_("Experiment"), widget=HiddenInput)

    array = django_filters.UUIDFilter(field_name="array_line__array_id", label=_("Array"), widget=HiddenInput)

    class Meta:
        model = Run
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(Q(name__icontains=value) | Q(note__icontains=value))

    def by_metric(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(metric_condition(value, "workload_id"))

    def of_archive(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(archived_at__isnull=False) if value == "only" else rows

    def filter_queryset(self, queryset: QuerySet[Run]) -> QuerySet[Run]:
        """What is archived, and trials of experiments, are shown where they are asked for, and there alone."""
        found: QuerySet[Run] = super().filter_queryset(queryset)
        asked = self.form.cleaned_data
        found = found if asked.get("archived") else found.filter(archived_at__isnull=True)
        return found if asked.get("trials") or asked.get("experiment") else found.filter(trial_of__isnull=True)

    def of_experiments(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(trial_of__isnull=False) if value == "only" else rows


def _below(workload: Workload) -> str:
    """Below the state: why it waits, why it ended, or since when."""
    if workload.status == Status.QUEUED:
        ahead = wait_ahead(workload)
        title = format_html(' title="{}"', ahead) if ahead else ""
        return format_html('<span class="pl-sub"{}>{}</span>', title, wait_title(workload))
    if workload.status == Status.FAILED or workload.reason in TOLD:
        why = end_title(workload)
        return format_html(
            '<span class="pl-sub"><span title="{}">{}</span></span>', why, Truncator(why).chars(LONGEST_WHY)
        )
    if workload.ended_at:
        return format_html('<span class="pl-sub">{}</span>', when(workload.ended_at))
    said = said_so_far(workload)
    if said:
        return format_html('<span class="pl-sub">{}</span>', said)
    return format_html('<span class="pl-sub">{} {}</span>', _("since"), when(workload.status_since))


def said_so_far(workload: Workload) -> str:
    """Of one that runs: how far it is, and its last loss."""
    found = progress_of(workload) if workload.status == Status.RUNNING else None
    if found is None:
        return ""
    percent = f"{found.percent:g} %" if found.percent is not None else ""
    value = f"{found.headline_name} {found.headline_value:.4g}" if found.headline_value is not None else ""
    return " · ".join(filter(None, (percent, value)))


def _marks(run: Run) -> str:
    archived = format_html(' <span class="pl-tag">{}</span>', _("Archived")) if run.archived_at else ""
    return format_html("{}{}", format_html(" {}", markup.simulated()) if run.workload.simulated else "", archived)


def _tags(tags: list[str]) -> str:
    chips = render_to_string("workloads/tag_chips.html", tag_chips(tags, "training:list"))
    return format_html('<span class="pl-row wrap pl-small mt-1">{}</span>', chips)


def _menu(actor: Actor, run: Run) -> list[dict[str, Any]]:
    """The actions of a row; people who may only look can just open it."""
    items: list[dict[str, Any]] = [
        {"label": _("Open"), "icon": "arrow-right", "url": addresses.page_of("training:detail", run.pk)}
    ]
    if not actor.may(Permission.TRAINING_SUBMIT):
        return items
    ask = {name: addresses.page_of("training:ask", run.pk, name) for name in ("rerun", "stop", "delete")}
    items += [
        {"label": _("Run again…"), "icon": "refresh", "hx_get": ask["rerun"]},
        {"label": _("Clone and edit"), "icon": "copy", "url": f"{addresses.page('training:new')}?from={run.pk}"},
    ]
    if run.workload.is_live:
        items.append({"label": _("Stop…"), "icon": "player-stop", "hx_get": ask["stop"], "danger": True})
        return items
    away = ("unarchive", _("Take out of the archive"), "archive-off") if run.archived_at else ARCHIVE
    items += [
        {"label": away[1], "icon": away[2], "hx_get": addresses.page_of("training:ask", run.pk, away[0])},
        {"label": _("Delete…"), "icon": "trash", "hx_get": ask["delete"], "danger": True},
    ]
    return items
