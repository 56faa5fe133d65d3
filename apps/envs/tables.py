"""The list of environments: columns and filter."""

from datetime import datetime
from functools import cached_property
from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.db.models.functions import Now
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.clock import db_now
from apps.common.filters import MineFilter
from apps.common.forms import search_box
from apps.common.permissions import Permission
from apps.common.tables import FULL, Table, column
from apps.envs import showing
from apps.envs.models import Environment
from apps.workloads.choices import LIVE, Reason, Status
from apps.workloads.filters import MembersWork, TagFilter


class EnvironmentTable(Table):
    caption = _("Development environments")
    export = "environments"
    name = tables.Column(verbose_name=_("Name and image"), attrs=column(width=FULL))
    state = tables.Column(
        accessor="pk",
        verbose_name=_("State"),
        order_by=("workload__status", "-created_at"),
        attrs=column("pl-inline", width=FULL),
    )
    package = tables.Column(
        accessor="package__pk", verbose_name=_("Package and isolation"), orderable=False, attrs=column(width=FULL)
    )
    use = tables.Column(
        accessor="pk", verbose_name=_("In use now"), orderable=False, attrs=column(fold=_("In use now"), width=FULL)
    )
    snapshot_at = tables.Column(verbose_name=_("Last snapshot"), attrs=column("pl-roomy", fold=_("Last snapshot")))
    expires_at = tables.Column(
        verbose_name=_("Expires at"), attrs=column("pl-roomy", fold=_("Expires at")), empty_values=()
    )
    rate = tables.Column(
        accessor="pk",
        verbose_name=_("¥/h"),
        order_by=("workload__price_version__rate_fen_per_hour", "-created_at"),  # stored: quick for any length
        attrs=column(fold=_("¥/h"), numeric=True),
    )
    actions = tables.Column(accessor="pk", verbose_name="", orderable=False, attrs=column("pl-acts", numeric=True))

    class Meta(Table.Meta):
        model = Environment
        fields = ()
        sequence = ("name", "state", "package", "use", "snapshot_at", "expires_at", "rate", "actions")
        order_by = "-created_at"
        row_attrs = {"data-href": lambda record: reverse("envs:detail", args=[record.pk])}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.now: datetime = db_now()
        self._shown: dict[Any, showing.Shown] = {}

    def shown(self, record: Environment) -> showing.Shown:
        if record.pk not in self._shown:
            self._shown[record.pk] = showing.show(record, self.now)
        return self._shown[record.pk]

    def _cell(self, name: str, record: Environment) -> str:
        actor = self.request.actor
        shown = self.shown(record)
        context = {
            "record": record,
            "shown": shown,
            "actor": actor,
            "csrf_token": self._token,
            "soon": record.expires_at is not None and (record.expires_at - self.now).days < 3,
            **self.more(name, record, shown),
        }
        # With the request instead of the token, each cell would make the whole page's context anew.
        return render_to_string(f"envs/cells/{name}.html", context)

    @cached_property
    def _token(self) -> str:
        """For the forms of the rows."""
        return get_token(self.request)

    def more(self, name: str, record: Environment, shown: showing.Shown) -> dict[str, Any]:
        """What else a cell is given: where the row leads, what can be done and opened."""
        actor, acts = self.request.actor, name == "actions"
        return {
            "own": showing.is_own(actor, record),
            "opens": showing.open_buttons(record, shown) if acts else [],
            "items": showing.menu(actor, record, shown) if acts else [],
            "url": reverse("envs:detail", args=[record.pk]),
        }

    def render_name(self, record: Environment) -> str:
        return self._cell("name", record)

    def render_state(self, record: Environment) -> str:
        return self._cell("state", record)

    def render_package(self, record: Environment) -> str:
        return self._cell("package", record)

    def render_use(self, record: Environment) -> str:
        return self._cell("use", record)

    def render_snapshot_at(self, record: Environment) -> str:
        return self._cell("snapshot", record)

    def render_expires_at(self, record: Environment) -> str:
        return self._cell("expires", record)

    def render_rate(self, record: Environment) -> str:
        return self._cell("rate", record)

    def render_actions(self, record: Environment) -> str:
        return self._cell("actions", record)


STATES = {
    "live": Q(workload__status__in=LIVE),
    "running": Q(workload__status=Status.RUNNING),
    "stopped": Q(workload__isnull=True) | ~Q(workload__status__in=LIVE),
    "released": Q(workload__status=Status.STOPPED, workload__reason=Reason.IDLE),
    "failed": Q(workload__status=Status.FAILED),
    "expired": Q(expires_at__lte=Now()),
}


class EnvironmentFilter(MembersWork):
    """Filters of the list; the URL holds their state. The bin is shown when asked for, never among the others."""

    sees_all = Permission.ENVIRONMENTS_MANAGE_ALL

    q = django_filters.CharFilter(
        method="search",
        label=_("Search name, note, image or SSH name"),
        widget=search_box(),
    )
    state = django_filters.ChoiceFilter(
        method="by_state",
        label=_("State"),
        choices=[
            ("live", _("Not stopped")),
            ("running", _("Running")),
            ("stopped", _("Stopped")),
            ("released", _("Released when idle")),
            ("failed", _("Failed")),
            ("expired", _("Expired")),
            ("binned", _("Recycle bin")),
        ],
        empty_label=_("Any state"),
    )
    gpu = django_filters.ChoiceFilter(
        method="by_gpu",
        label=_("GPU"),
        choices=[("with", _("With a GPU")), ("without", _("Without a GPU"))],
        empty_label=_("With or without a GPU"),
    )
    tag = TagFilter()
    mine = MineFilter()

    class Meta:
        model = Environment
        fields: tuple[str, ...] = ()

    def filter_queryset(self, queryset: QuerySet[Environment]) -> QuerySet[Environment]:
        binned = self.form.cleaned_data.get("state") == "binned"
        rows: QuerySet[Environment] = super().filter_queryset(queryset)
        return rows.filter(deleted_at__isnull=not binned)

    def search(self, rows: QuerySet[Environment], name: str, value: str) -> QuerySet[Environment]:
        found = Q(name__icontains=value) | Q(note__icontains=value) | Q(code__iexact=value)
        return rows.filter(found | Q(image__name__icontains=value))

    def by_state(self, rows: QuerySet[Environment], name: str, value: str) -> QuerySet[Environment]:
        return rows.filter(STATES[value]) if value in STATES else rows

    def by_gpu(self, rows: QuerySet[Environment], name: str, value: str) -> QuerySet[Environment]:
        with_gpu = Q(package__gpu_count__gt=0, without_gpu=False)
        return rows.filter(with_gpu) if value == "with" else rows.exclude(with_gpu)
