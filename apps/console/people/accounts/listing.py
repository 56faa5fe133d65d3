"""Lists of people and staff: columns and filters; pages and API share the filters."""

from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import OrganisationFilter
from apps.tenants.models import AccountDeletion, Membership, User


class PersonTable(Table):
    caption = _("People")
    username = Cell(template_name="console/cells/person.html", verbose_name=_("Person"), attrs=column(width=FULL))
    homes = Cell(
        template_name="console/cells/person_homes.html",
        verbose_name=_("Organisations"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("Organisations")),
    )
    staff = Cell(
        template_name="console/cells/person_staff.html",
        verbose_name=_("On the platform"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("On the platform")),
    )
    is_active = Cell(
        template_name="console/cells/person_state.html", verbose_name=_("Account"), attrs=column(fold=_("Account"))
    )
    last_login = Cell(
        "{% load pl %}{% when record.last_login %}",
        verbose_name=_("Last sign-in"),
        empty_values=(),
        attrs=column("pl-wide", numeric=True),
    )
    date_joined = Cell(
        "{% load pl %}{% when record.date_joined %}",
        verbose_name=_("Created"),
        attrs=column("pl-roomy", "pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:people_detail", args=[record.pk])}
        order_by = "username"


class PeopleTable(PersonTable):
    """Everybody; the staff alone are few."""

    export = "people"

    class Meta(PersonTable.Meta):
        pass


class PersonFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name, user name or e-mail"), widget=search_box())
    state = django_filters.ChoiceFilter(
        method="by_state",
        choices=[
            ("usable", _("Usable")),
            ("disabled", _("Disabled")),
            ("leaving", _("About to be deleted")),
            ("deleted", pgettext_lazy("account", "Deleted")),
        ],
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
        if value == "deleted":
            return rows.filter(erased_at__isnull=False)
        if value == "leaving":
            return rows.filter(Exists(AccountDeletion.objects.filter(user=OuterRef("pk"), withdrawn_at=None)))
        return rows.filter(is_active=value == "usable")

    def filter_queryset(self, queryset: QuerySet[User]) -> QuerySet[User]:
        """Deleted accounts only where they are asked for."""
        rows: QuerySet[User] = super().filter_queryset(queryset)
        return rows if self.form.cleaned_data.get("state") == "deleted" else rows.filter(erased_at__isnull=True)


class _OfOrganisation(OrganisationFilter):
    """People by an organisation that they belong to."""

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        members = super().filter(Membership.objects.filter(user=OuterRef("pk")), value)
        return qs.filter(Exists(members))


class PeopleFilter(PersonFilter):
    organisation = _OfOrganisation()
