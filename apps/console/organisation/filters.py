"""Filters of the organisation's lists; the URL holds their state."""

from typing import Any

import django_filters
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.console.kit.fields import PRIORITIES
from apps.console.organisation.forms import department_choices
from apps.tenants import tree
from apps.tenants.choices import Role
from apps.tenants.models import Department, Invitation, Membership


class MemberFilter(django_filters.FilterSet):
    """`department` includes what is below it."""

    q = django_filters.CharFilter(method="search", label=_("Name, user name or e-mail"), widget=search_box())
    role = django_filters.ChoiceFilter(choices=Role.choices, label=_("Role"), empty_label=_("Any role"))
    department = django_filters.ChoiceFilter(
        method="by_department", label=_("Department"), empty_label=_("Any department")
    )
    priority = django_filters.ChoiceFilter(
        choices=[(str(value), str(value)) for value, _words in PRIORITIES],
        label=_("Priority"),
        empty_label=_("Any priority"),
    )

    class Meta:
        model = Membership
        fields: tuple[str, ...] = ()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        organisation_id = self.request.actor.organisation_id
        self.filters["department"].extra["choices"] = department_choices(organisation_id, "")[1:]

    def search(self, rows: QuerySet[Membership], name: str, value: str) -> QuerySet[Membership]:
        by_name = Q(user__username__icontains=value) | Q(user__name__icontains=value)
        return rows.filter(by_name | Q(user__email__icontains=value))

    def by_department(self, rows: QuerySet[Membership], name: str, value: str) -> QuerySet[Membership]:
        found = Department.objects.filter(pk=value).first()
        return rows.filter(department_id__in=tree.subtree(found.pk)) if found else rows.none()


class InvitationFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(field_name="email", lookup_expr="icontains", label=_("E-mail"), widget=search_box())
    state = django_filters.ChoiceFilter(
        method="by_state",
        choices=[("open", _("Open")), ("used", _("Used up")), ("over", _("Expired or revoked"))],
        label=_("State"),
        empty_label=_("Any state"),
    )

    class Meta:
        model = Invitation
        fields: tuple[str, ...] = ()

    def by_state(self, rows: QuerySet[Invitation], name: str, value: str) -> QuerySet[Invitation]:
        used = Q(uses__gte=F("max_uses"))
        over = Q(revoked_at__isnull=False) | Q(expires_at__lte=Now())
        return rows.filter({"used": used, "over": over & ~used}.get(value, ~used & ~over))


class DepartmentFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(
        field_name="name", lookup_expr="icontains", label=_("Name, anywhere below"), widget=search_box()
    )

    class Meta:
        model = Department
        fields: tuple[str, ...] = ()
