"""Filter of the console's list of images; the page and the API share it."""

import django_filters
from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from apps.common.forms import search_box
from apps.console.filters.base import OrganisationFilter
from apps.registry.models import Image


class ImageFilter(django_filters.FilterSet):
    q = django_filters.CharFilter(method="search", label=_("Name, package or owner"), widget=search_box())
    kind = django_filters.ChoiceFilter(
        method="by_kind",
        choices=[("platform", _("Of the platform")), ("personal", _("Personal"))],
        label=_("Kind"),
        empty_label=_("Any kind"),
    )
    organisation = OrganisationFilter()
    active = django_filters.ChoiceFilter(
        method="by_offer",
        choices=[("true", _("On offer")), ("false", _("Withdrawn"))],
        label=_("Offer"),
        empty_label=_("On offer or not"),
    )

    class Meta:
        model = Image
        fields: tuple[str, ...] = ()

    def search(self, rows: QuerySet[Image], name: str, value: str) -> QuerySet[Image]:
        by_owner = Q(owner__username__icontains=value) | Q(owner__name__icontains=value)
        return rows.filter(Q(name__icontains=value) | Q(requirements__icontains=value) | by_owner)

    def by_kind(self, rows: QuerySet[Image], name: str, value: str) -> QuerySet[Image]:
        return rows.filter(organisation__isnull=value == "platform")

    def by_offer(self, rows: QuerySet[Image], name: str, value: str) -> QuerySet[Image]:
        return rows.filter(active=value == "true")
