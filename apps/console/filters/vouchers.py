"""Filters of vouchers and discounts; pages and API share them."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import VoucherScope, VoucherState
from apps.billing.models import Discount, Voucher
from apps.common.clock import db_now
from apps.console.filters.base import OrganisationFilter


class VoucherFilter(django_filters.FilterSet):
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(choices=VoucherState.choices, label=_("State"), empty_label=_("Any state"))
    scope = django_filters.ChoiceFilter(
        choices=VoucherScope.choices, label=_("Pays for"), empty_label=_("Whatever it pays for")
    )

    class Meta:
        model = Voucher
        fields: tuple[str, ...] = ()


class DiscountFilter(django_filters.FilterSet):
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(
        method="by_state",
        choices=[("now", _("In force")), ("planned", _("Planned")), ("past", _("Ended"))],
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
