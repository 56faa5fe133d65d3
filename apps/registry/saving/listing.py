"""The list of image savings, and its filter."""

from collections.abc import Sequence
from functools import reduce
from operator import or_

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.common.tables import FULL, column
from apps.registry.choices import SavingStatus
from apps.registry.distribution.listing import ArrivalTable
from apps.registry.models import ImageSaving


class SavingTable(ArrivalTable):
    caption = _("Saved work")
    work = tables.TemplateColumn(
        template_name="registry/saving/work.html",
        verbose_name=_("What was saved"),
        order_by=("workload__name",),
        attrs=column(width=FULL),
    )
    to = tables.TemplateColumn(
        template_name="registry/saving/to.html",
        verbose_name=_("Repository and tag"),
        order_by=("repository_name", "tag"),
        attrs=column("pl-inline", width=FULL),
    )
    status = tables.TemplateColumn(
        template_name="registry/saving/status.html", verbose_name=_("State"), attrs=column("pl-inline", width=FULL)
    )

    class Meta(ArrivalTable.Meta):
        sequence = ("work", "to", "status", "owner", "created_at")


class SavingFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Work, repository or note"), widget=search_box())
    status = django_filters.ChoiceFilter(choices=SavingStatus.choices, label=_("State"), empty_label=_("All states"))

    class Meta:
        model = ImageSaving
        fields: Sequence[str] = ()

    def search(self, rows: QuerySet[ImageSaving], name: str, value: str) -> QuerySet[ImageSaving]:
        names = ("workload__name", "kept__name", "repository_name", "note")
        found = reduce(or_, (Q(**{f"{name}__icontains": value}) for name in names))
        return rows.filter(found)
