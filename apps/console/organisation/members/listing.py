"""The list of members: its columns and filters; page and API share the filters."""

from typing import Any

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.fields import PRIORITIES
from apps.console.kit.organisation_choices import department_choices
from apps.console.organisation.shared import WithPaths
from apps.tenants import tree
from apps.tenants.choices import Role
from apps.tenants.models import Department, Membership


class MemberTable(WithPaths):
    caption = _("Members")
    export = "members"
    pick = Cell(template_name="organisation/cells/pick.html", verbose_name="", orderable=False, attrs=column("pl-wide"))
    user = Cell(
        template_name="organisation/cells/member.html",
        verbose_name=_("Person"),
        order_by=("user__username",),
        attrs=column(width=FULL),
    )
    role = Cell(template_name="organisation/cells/role.html", verbose_name=_("Role"), attrs=column(fold=_("Role")))
    department = Cell(
        template_name="organisation/cells/department.html",
        verbose_name=_("Department"),
        order_by=("department__name",),
        empty_values=(),
        attrs=column(fold=_("Department"), width=FULL),
    )
    priority = tables.Column(verbose_name=_("Priority"), attrs=column(fold=_("Priority"), numeric=True))
    active = Cell(
        template_name="console/cells/account_state.html",
        verbose_name=_("Account"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("Account")),
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Member since"),
        attrs=column("pl-roomy", "pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("organisation:member", args=[record.user_id])}
        sequence = ("pick", "user", "role", "department", "priority", "active", "created_at")
        order_by = "-created_at"


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
