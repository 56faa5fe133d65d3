"""Lists of requests for packages, as the organisation's and the platform's reviewers see them."""

from typing import Any

import django_tables2 as tables
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


class RequestTable(Table):
    """`decides`: whether the reader may decide; `across`: whether organisations are told apart."""

    caption = _("Requests for packages")
    pick = Cell(
        template_name="console/cells/request_pick.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-wide"),
    )
    user = Cell(
        template_name="console/cells/member.html",
        verbose_name=_("Person"),
        order_by=("user__username",),
        attrs=column(width=FULL),
    )
    organisation = tables.Column(
        accessor="organisation__name", verbose_name=_("Organisation"), attrs=column(fold=_("Organisation"))
    )
    package = Cell(
        "{% load training %}{{ record.package|package_name }}",
        verbose_name=_("Package"),
        order_by=("package__name_en",),
        attrs=column(fold=_("Package")),
    )
    reason = tables.Column(verbose_name=_("What for"), orderable=False, attrs=column(width=FULL))
    state = Cell(
        template_name="console/cells/request_state.html", verbose_name=_("State"), attrs=column(fold=_("State"))
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}", verbose_name=_("Asked"), attrs=column("pl-wide", numeric=True)
    )
    acts = Cell(
        template_name="console/cells/request_acts.html",
        verbose_name="",
        orderable=False,
        empty_values=(),
        attrs=column("pl-acts", width=FULL),
    )

    class Meta(Table.Meta):
        order_by = "-created_at"

    def __init__(self, *args: Any, decides: bool, across: bool, **kwargs: Any) -> None:
        self.decides = decides
        self.deny_name = "console:request_deny" if across else "organisation:request_deny"
        hidden = ([] if decides else ["pick", "acts"]) + ([] if across else ["organisation"])
        super().__init__(*args, exclude=tuple(hidden), **kwargs)
