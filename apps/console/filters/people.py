"""Filters of people and of requests for packages; pages and API share them."""

from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import RequestState
from apps.billing.models import PackageRequest
from apps.common.forms import search_box
from apps.console.filters.base import OrganisationFilter
from apps.tenants.models import Membership, User


class PersonFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name, user name or e-mail"), widget=search_box())
    state = django_filters.ChoiceFilter(
        method="by_state",
        choices=[("usable", _("Usable")), ("disabled", _("Disabled"))],
        label=_("Account"),
        empty_label=_("Any account"),
    )

    class Meta:
        model = User
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[User], name: str, value: str) -> QuerySet[User]:
        by_name = Q(username__icontains=value) | Q(name__icontains=value)
        return rows.filter(by_name | Q(email__icontains=value))

    def by_state(self, rows: QuerySet[User], name: str, value: str) -> QuerySet[User]:
        return rows.filter(is_active=value == "usable")


class _OfOrganisation(OrganisationFilter):
    """People by an organisation that they belong to."""

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        members = super().filter(Membership.objects.filter(user=OuterRef("pk")), value)
        return qs.filter(Exists(members))


class PeopleFilter(PersonFilter):
    organisation = _OfOrganisation()


class RequestFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Person, package or reason"), widget=search_box())
    state = django_filters.ChoiceFilter(choices=RequestState.choices, label=_("State"), empty_label=_("Any state"))

    class Meta:
        model = PackageRequest
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[PackageRequest], name: str, value: str) -> QuerySet[PackageRequest]:
        by_person = Q(user__username__icontains=value) | Q(user__name__icontains=value)
        by_package = Q(package__name_en__icontains=value) | Q(package__name_zh__icontains=value)
        return rows.filter(by_person | by_package | Q(reason__icontains=value))


class PlatformRequestFilter(RequestFilter):
    organisation = OrganisationFilter()
