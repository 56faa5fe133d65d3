"""The list of training runs: columns and filter."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.training.models import Run
from apps.workloads.choices import LIVE, Status


class RunTable(tables.Table):
    name = tables.TemplateColumn(template_name="training/cells/name.html", verbose_name=_("Name and package"))
    status = tables.TemplateColumn(
        template_name="training/cells/status.html", verbose_name=_("State"), order_by=("workload__status",)
    )
    owner = tables.Column(verbose_name=_("Owner"), order_by=("owner__name", "owner__username"))
    created_at = tables.TemplateColumn(template_name="training/cells/created.html", verbose_name=_("Submitted"))
    duration = tables.TemplateColumn(
        template_name="training/cells/duration.html",
        verbose_name=_("Ran for"),
        orderable=False,
        attrs={"th": {"class": "pl-num"}, "td": {"class": "pl-num"}},
    )
    rate = tables.TemplateColumn(
        template_name="training/cells/rate.html",
        verbose_name=_("¥/h"),
        orderable=False,
        attrs={"th": {"class": "pl-num"}, "td": {"class": "pl-num"}},
    )
    actions = tables.TemplateColumn(
        template_name="training/cells/actions.html", verbose_name="", orderable=False, attrs={"td": {"class": "pl-acts"}}
    )

    class Meta:
        model = Run
        fields = ()
        sequence = ("name", "status", "owner", "created_at", "duration", "rate", "actions")
        order_by = "-created_at"


class RunFilter(django_filters.FilterSet):
    """Filters of the list; the URL holds their state."""

    q = django_filters.CharFilter(method="search", label=_("Name or note"))
    status = django_filters.ChoiceFilter(
        method="by_status", label=_("State"), choices=[("live", _("Not ended")), *Status.choices]
    )
    mine = django_filters.ChoiceFilter(method="by_owner", label=_("Whose"), choices=[("1", _("Mine"))], empty_label=_("All"))

    class Meta:
        model = Run
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(Q(name__icontains=value) | Q(note__icontains=value))

    def by_status(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(workload__status__in=LIVE if value == "live" else [value])

    def by_owner(self, rows: QuerySet[Run], name: str, value: str) -> QuerySet[Run]:
        return rows.filter(owner_id=self.request.actor.user_id) if value else rows
