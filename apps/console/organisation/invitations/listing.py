"""The list of invitations: its columns and filters; page and API share the filters."""

import django_filters
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, Table, column
from apps.console.organisation.shared import WithPaths
from apps.tenants.models import Invitation


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


class InvitationFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(field_name="email", lookup_expr="icontains", label=_("E-mail"), widget=search_box())
    state = django_filters.ChoiceFilter(
        method="by_state",
        choices=[
            ("open", pgettext_lazy("invitation", "Open")),
            ("used", _("Used up")),
            ("over", _("Expired or revoked")),
        ],
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
