"""Filters of the list of cards; the URL holds their state, page and API share them."""

from typing import Any

import django_filters
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.clusters.choices import AcceleratorMode
from apps.clusters.models import Accelerator
from apps.clusters.selectors import silent
from apps.common.forms import search_box
from apps.console.hardware.zones.selectors import zones_by_name
from apps.workloads.models import Placement

CARD_STATES = [
    ("free", _("Free")),
    ("used", _("In use")),
    ("unwell", _("Not healthy or not heard from")),
]


def _models() -> list[tuple[str, str]]:
    names = Accelerator.objects.order_by("model").values_list("model", flat=True).distinct()
    return [(name, name) for name in names]


class CardFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Node or card's id"), widget=search_box(18))
    zone = django_filters.ModelChoiceFilter(
        field_name="node__cluster__zone", queryset=zones_by_name, label=_("Zone"), empty_label=_("Any zone")
    )
    model = django_filters.ChoiceFilter(choices=_models, label=_("Model"), empty_label=_("Any model"))
    mode = django_filters.ChoiceFilter(choices=AcceleratorMode.choices, label=_("Mode"), empty_label=_("Any mode"))
    state = django_filters.ChoiceFilter(
        method="by_state", choices=CARD_STATES, label=_("State"), empty_label=_("Any state")
    )

    class Meta:
        model = Accelerator
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Accelerator], name: str, value: str) -> QuerySet[Accelerator]:
        return rows.filter(Q(node__name__icontains=value) | Q(uuid__iexact=value))

    def by_state(self, rows: QuerySet[Accelerator], name: str, value: str) -> QuerySet[Accelerator]:
        unwell = Q(healthy=False) | silent("node__")
        if value == "unwell":
            return rows.filter(unwell)
        held: Any = Exists(Placement.objects.filter(accelerator=OuterRef("pk"), released_at__isnull=True))
        return rows.filter(held) if value == "used" else rows.filter(~unwell, ~held)
