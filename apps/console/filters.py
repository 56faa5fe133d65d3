"""Filters of the console's lists; the URL holds their state, pages and API share them."""

from datetime import date, timedelta
from typing import Any

import django_filters
from django import forms
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.audit.models import Entry
from apps.billing.models import Package, Transfer
from apps.console.action_words import ACTIONS
from apps.console.days import start_of
from apps.console.forms.fields import Completing
from apps.console.selectors.organisations import find
from apps.console.words import TARGETS
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Organisation
from apps.workloads.choices import LIVE, Kind, Status
from apps.workloads.models import Workload


def search_box(size: int = 24) -> forms.TextInput:
    return forms.TextInput(attrs={"type": "search", "size": size})


def date_box(label: Any) -> forms.DateInput:
    """Date inputs show no placeholder: the title says which end of the span it is."""
    return forms.DateInput(format="%Y-%m-%d", attrs={"type": "date", "title": label})


class OrganisationFilter(django_filters.CharFilter):
    """An organisation by name, short name or id; what names none is looked for inside the names."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(label=_("Organisation"), widget=Completing(attrs={"size": 18}), **kwargs)

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        named = find(value)
        if named is not None:
            return qs.filter(organisation_id=named.pk)
        alike = Organisation.objects.filter(name__icontains=value).order_by().values("pk")
        return qs.filter(organisation_id__in=alike)


class OrganisationListFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or short name"), widget=search_box())
    status = django_filters.ChoiceFilter(
        choices=OrganisationStatus.choices, label=_("Status"), empty_label=_("Any status")
    )

    class Meta:
        model = Organisation
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Organisation], name: str, value: str) -> QuerySet[Organisation]:
        return rows.filter(Q(name__icontains=value) | Q(slug__icontains=value))


class WorkloadFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or owner"), widget=search_box())
    status = django_filters.ChoiceFilter(
        method="by_status",
        choices=[("live", _("Not ended")), *Status.choices],
        label=_("State"),
        empty_label=_("Any state"),
    )
    organisation = OrganisationFilter()
    kind = django_filters.ChoiceFilter(choices=Kind.choices, label=_("Kind"), empty_label=_("Any kind"))

    class Meta:
        model = Workload
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Workload], name: str, value: str) -> QuerySet[Workload]:
        by_owner = Q(owner__username__icontains=value) | Q(owner__name__icontains=value)
        return rows.filter(Q(name__icontains=value) | by_owner)

    def by_status(self, rows: QuerySet[Workload], name: str, value: str) -> QuerySet[Workload]:
        return rows.filter(status__in=LIVE if value == "live" else [value])


class PackageFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name or GPU model"), widget=search_box())
    active = django_filters.ChoiceFilter(
        choices=[("true", _("On offer")), ("false", _("Withdrawn"))],
        method="by_offer",
        label=_("Offer"),
        empty_label=_("All packages"),
    )

    class Meta:
        model = Package
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Package], name: str, value: str) -> QuerySet[Package]:
        named = Q(name_en__icontains=value) | Q(name_zh__icontains=value)
        return rows.filter(named | Q(gpu_model__icontains=value))

    def by_offer(self, rows: QuerySet[Package], name: str, value: str) -> QuerySet[Package]:
        return rows.filter(active=value == "true")


def day_filter(method: str, label: Any) -> django_filters.DateFilter:
    return django_filters.DateFilter(method=method, label=label, widget=date_box(label))


class BetweenDays(django_filters.FilterSet):
    """First and last day, both included, of rows with an `at`. Each set names `since` and `until` in its own order."""

    def from_day(self, rows: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return rows.filter(at__gte=start_of(value))

    def to_day(self, rows: QuerySet[Any], name: str, value: date) -> QuerySet[Any]:
        return rows.filter(at__lt=start_of(value + timedelta(days=1)))


class RechargeFilter(BetweenDays):
    q = django_filters.CharFilter(method="search", label=_("Reference, note or who"), widget=search_box())
    organisation = OrganisationFilter()
    since = day_filter("from_day", _("From"))
    until = day_filter("to_day", _("To"))

    class Meta:
        model = Transfer
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Transfer], name: str, value: str) -> QuerySet[Transfer]:
        return rows.filter(Q(ref__icontains=value) | Q(note__icontains=value) | Q(actor_label__icontains=value))


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
