"""Lists of accounts and of the platform's staff."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


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
        verbose_name=_("Since"),
        attrs=column("pl-roomy", "pl-wide", numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:people_detail", args=[record.pk])}
        order_by = "username"


class PlatformRoleTable(Table):
    caption = _("Roles that were defined here")
    name = Cell('<span class="pl-name">{{ record.name }}</span>', verbose_name=_("Name"), attrs=column(width=FULL))
    allows = Cell(
        "{{ record.permissions|length }}",
        verbose_name=_("Permissions"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("Permissions"), numeric=True),
    )
    used_by = tables.Column(verbose_name=_("People"), attrs=column(fold=_("People"), numeric=True))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:role", args=[record.pk])}
        order_by = "name"
