"""Lists of an organisation's people, invitations, departments and roles."""

from typing import Any
from uuid import UUID

import django_tables2 as tables
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.tenants.choices import Resource
from apps.tenants.quotas import amount_text


class WithPaths(Table):
    """Rows with a department show its path, read once for the page that is shown."""

    paths: dict[UUID, str]


class MemberTable(WithPaths):
    caption = _("Members")
    pick = Cell(template_name="organisation/cells/pick.html", verbose_name="", orderable=False, attrs=column("pl-wide"))
    user = Cell(
        template_name="console/cells/member.html",
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


class InvitationTable(WithPaths):
    caption = _("Invitations")
    who = Cell(
        template_name="organisation/cells/invitation.html",
        verbose_name=_("For"),
        order_by=("email",),
        empty_values=(),
        attrs=column(width=FULL),
    )
    role = Cell(template_name="organisation/cells/role.html", verbose_name=_("Role"), attrs=column(fold=_("Role")))
    department = Cell(
        template_name="organisation/cells/department.html",
        verbose_name=_("Department"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("Department")),
    )
    state = Cell(
        template_name="organisation/cells/invitation_state.html",
        verbose_name=_("State"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("State")),
    )
    expires_at = Cell(
        "{% load pl %}{% when record.expires_at %}",
        verbose_name=_("Works until"),
        attrs=column(fold=_("Works until"), numeric=True),
    )
    actions = Cell(
        template_name="organisation/cells/invitation_actions.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-acts", width=FULL),
    )

    class Meta(Table.Meta):
        order_by = "-expires_at"


class DepartmentTable(Table):
    """`books` of the page's departments by id: used and limit, as the cell shows them."""

    caption = _("Departments")
    name = Cell(
        template_name="organisation/cells/department_name.html",
        verbose_name=_("Name"),
        attrs=column(width=FULL),
    )
    people = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))
    cpu = tables.Column(verbose_name=_("CPU cores"), orderable=False, empty_values=(), attrs=column(fold="CPU"))
    gpu = tables.Column(verbose_name=_("GPU cards"), orderable=False, empty_values=(), attrs=column(fold="GPU"))
    storage = tables.Column(verbose_name=_("Storage GiB"), orderable=False, empty_values=(), attrs=column("pl-wide"))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("organisation:department", args=[record.pk])}
        order_by = "name"

    books: dict[UUID, dict[str, str]]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.books = {}
        super().__init__(*args, **kwargs)

    def render_cpu(self, record: Any) -> str:
        return self.books.get(record.pk, {}).get("cpu_milli", "0")

    def render_gpu(self, record: Any) -> str:
        return self.books.get(record.pk, {}).get("gpu_milli", "0")

    def render_storage(self, record: Any) -> str:
        return self.books.get(record.pk, {}).get("storage_mib", "0")


class RoleTable(Table):
    caption = _("Roles")
    name = Cell('<span class="pl-name">{{ record.name }}</span>', verbose_name=_("Name"), attrs=column(width=FULL))
    allows = Cell(
        "{{ record.permissions|length }}",
        verbose_name=_("Permissions"),
        orderable=False,
        empty_values=(),
        attrs=column(fold=_("Permissions"), numeric=True),
    )
    used_by = tables.Column(verbose_name=_("Members"), attrs=column(fold=_("Members"), numeric=True))
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}", verbose_name=_("Created"), attrs=column("pl-wide", numeric=True)
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("organisation:role", args=[record.pk])}
        order_by = "name"


class HoldingTable(Table):
    """What holds one resource. `names` of the page's objects by id."""

    caption = _("Holders")
    names: dict[UUID, Any]

    what = tables.Column(verbose_name=_("Object"), orderable=False, empty_values=(), attrs=column(width=FULL))
    user = Cell(
        template_name="console/cells/member.html",
        verbose_name=_("Person"),
        orderable=False,
        attrs=column(fold=_("Person")),
    )
    amount = tables.Column(verbose_name=_("Holds"), attrs=column(fold=_("Holds"), numeric=True))
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Since"),
        attrs=column(fold=_("Since"), numeric=True),
    )

    class Meta(Table.Meta):
        sequence = ("what", "user", "amount", "created_at")

    def __init__(self, *args: Any, resource: Resource, **kwargs: Any) -> None:
        self.resource = resource
        self.names = {}
        super().__init__(*args, **kwargs)

    def render_amount(self, value: int) -> str:
        return amount_text(self.resource, value)

    def render_what(self, record: Any) -> str:
        """The name where the object still has one, else what kind of object it is."""
        context = {"record": record, "named": self.names.get(record.holder_id)}
        return render_to_string("organisation/cells/holder.html", context)
