"""The list of training runs: columns and filter."""

from datetime import datetime
from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.training.models import Run
from apps.workloads.filters import MembersWork, StatusFilter, TagFilter
from apps.workloads.selectors import STALE_AFTER


class RunTable(Table):
    caption = _("Training runs")
    name = tables.TemplateColumn(
        template_name="training/cells/name.html", verbose_name=_("Name and package"), attrs=column(width=FULL)
    )
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
    created_at = tables.TemplateColumn(
        template_name="training/cells/created.html", verbose_name=_("Submitted"), attrs=column(fold=_("Submitted"))
    )
    duration = tables.TemplateColumn(
        template_name="training/cells/duration.html",
        verbose_name=_("Ran for"),
        orderable=False,
        attrs=column(fold=_("Ran for"), numeric=True),
    )
    rate = tables.TemplateColumn(
        template_name="training/cells/rate.html",
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
        row_attrs = {"data-href": lambda record: reverse("training:detail", args=[record.pk])}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.now: datetime = db_now()

    def render_status(self, record: Run) -> str:
        """`last_seen` comes with the list's query; older than a few checks means that nobody knows."""
        last_seen = getattr(record, "last_seen", None)
        stale = last_seen is not None and self.now - last_seen > STALE_AFTER
        return render_to_string("training/cells/status.html", {"record": record, "stale": stale})

    def render_actions(self, record: Run) -> str:
        return render_to_string("components/menu.html", {"of": record.name, "items": _menu(self.request.actor, record)})


class RunFilter(MembersWork):
    """Filters of the list; the URL holds their state."""

    sees_all = Permission.TRAINING_MANAGE_ALL

    q = django_filters.CharFilter(method="search", label=_("Search name or note"), widget=search_box())
    status = StatusFilter("workload__")
    tag = TagFilter("workload__")
    mine = MineFilter()

    class Meta:
        model = Run
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(Q(name__icontains=value) | Q(note__icontains=value))


def _menu(actor: Actor, run: Run) -> list[dict[str, Any]]:
    """What one can do with a row; for people who may only look, just open it."""
    items: list[dict[str, Any]] = [
        {"label": _("Open"), "icon": "arrow-right", "url": reverse("training:detail", args=[run.pk])}
    ]
    if not actor.may(Permission.TRAINING_SUBMIT):
        return items
    ask = {name: reverse("training:ask", args=[run.pk, name]) for name in ("rerun", "stop")}
    items += [
        {"label": _("Run again…"), "icon": "refresh", "hx_get": ask["rerun"]},
        {"label": _("Clone and edit"), "icon": "copy", "url": f"{reverse('training:new')}?from={run.pk}"},
    ]
    if run.workload.is_live:
        items.append({"label": _("Stop…"), "icon": "player-stop", "hx_get": ask["stop"], "danger": True})
    return items
