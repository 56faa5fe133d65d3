"""The list of discounts: its columns and filters; page and API share the filters."""

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.models import Discount
from apps.common.cells import Cell
from apps.common.clock import db_now
from apps.common.tables import Table, column
from apps.console.kit.filters import OrganisationFilter


class DiscountTable(Table):
    caption = _("Discounts")
    organisation = Cell(
        "<span class='pl-name'>{{ record.organisation.name }}</span>"
        "{% if record.note %}<span class='pl-sub'>{{ record.note }}</span>{% endif %}",
        verbose_name=_("Organisation and note"),
        order_by=("organisation__name", "number"),
        attrs=column("o-1", width="c-4"),
    )
    state = Cell(
        template_name="console/cells/price_state.html",
        verbose_name=_("State"),
        orderable=False,
        attrs=column("o-2", width="c-2"),
    )
    off = Cell(
        "{% load vouchers %}<span class='pl-strong'>{{ record.off|per_cent }}</span>",
        verbose_name=_("Discount"),
        attrs=column(fold=_("Discount"), numeric=True),
    )
    number = Cell(
        "v{{ record.number }}",
        verbose_name=_("Version"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Version"), numeric=True),
    )
    effective_from = Cell(
        "{% load pl %}{% when record.effective_from seconds=True %}",
        verbose_name=_("In force from"),
        attrs=column(fold=pgettext_lazy("time", "From"), numeric=True),
    )
    effective_to = Cell(
        "{% load pl %}{% when record.effective_to seconds=True %}",
        verbose_name=_("Until"),
        attrs=column(fold=_("Until"), numeric=True),
    )
    made_by = tables.Column(verbose_name=_("By"), orderable=False, attrs=column("pl-roomy", fold=_("By")))
    end = Cell(
        template_name="console/discounts/end.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-acts"),
    )

    class Meta(Table.Meta):
        exclude: tuple[str, ...] = ()


class DiscountFilter(django_filters.FilterSet):
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(
        method="by_state",
        choices=[("now", _("In force")), ("planned", _("Planned")), ("past", pgettext_lazy("price", "Ended"))],
        label=_("State"),
        empty_label=_("Any state"),
    )

    class Meta:
        model = Discount
        fields: tuple[str, ...] = ()

    def by_state(self, rows: QuerySet[Discount], name: str, value: str) -> QuerySet[Discount]:
        now = db_now()
        over = Q(effective_to__isnull=False, effective_to__lte=now)
        if value == "past":
            return rows.filter(over)
        return rows.exclude(over).filter(
            Q(effective_from__gt=now) if value == "planned" else Q(effective_from__lte=now)
        )
