"""Lists of images and of their uses: columns and filters; page and API share the filters."""

from collections.abc import Mapping
from uuid import UUID

import django_filters
import django_tables2 as tables
from django.db.models import Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.common.cells import Cell
from apps.common.forms import search_box
from apps.common.tables import FULL, HALF, Table, column
from apps.console.kit.filters import OrganisationFilter
from apps.registry.facts import Facts
from apps.registry.models import Image


class ImageTable(Table):
    caption = _("Images")
    export = "all_images"
    facts: Mapping[UUID, Facts] = {}  # of the rows of the page, from who pages it

    name = Cell(
        template_name="console/cells/image_name.html",
        verbose_name=_("Name"),
        order_by=("name",),
        attrs=column("o-1", width="c-4"),
    )
    offer = Cell(
        template_name="console/cells/image_offer.html",
        verbose_name=_("Offer"),
        order_by=("active",),
        attrs=column("o-2", width="c-2"),
    )
    whose = Cell(
        template_name="console/cells/image_whose.html",
        verbose_name=_("Whose, and for whom"),
        order_by=("organisation__name", "owner__name"),
        attrs=column("pl-inline", width=FULL),
    )
    packages = Cell(
        "{{ record.requirements|length }}",
        verbose_name=pgettext_lazy("software", "Packages"),
        orderable=False,
        attrs=column("pl-roomy", fold=pgettext_lazy("software", "Packages"), numeric=True),
    )
    environments = tables.Column(
        verbose_name=_("Environments"), orderable=False, attrs=column(fold=_("Environments"), numeric=True)
    )
    runs = tables.Column(
        verbose_name=_("Training runs"), orderable=False, attrs=column(fold=_("Training runs"), numeric=True)
    )
    last_run = tables.Column(
        accessor="pk", verbose_name=_("Last run here"), orderable=False, attrs=column(fold=_("Last run here"))
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Created"),
        attrs=column("pl-roomy", fold=_("Created"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:image", args=[record.pk])}

    def render_last_run(self, record: Image) -> str:
        facts = self.facts.get(record.pk, Facts())
        return render_to_string("registry/cells/last_run.html", {"facts": facts})


class UseTable(Table):
    caption = _("Who uses it")
    organisation = Cell(
        '<a class="pl-name" href="{% url "console:organisation" record.organisation.pk %}">'
        "{{ record.organisation.name }}</a>",
        verbose_name=_("Organisation"),
        orderable=False,
        attrs=column(width=FULL),
    )
    people = tables.Column(
        verbose_name=_("People"), orderable=False, attrs=column(fold=_("People"), numeric=True, width=HALF)
    )
    environments = tables.Column(
        verbose_name=_("Environments"), orderable=False, attrs=column(fold=_("Environments"), numeric=True)
    )
    runs = tables.Column(
        verbose_name=_("Training runs"), orderable=False, attrs=column(fold=_("Training runs"), numeric=True)
    )


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
        choices=[("true", _("On offer")), ("false", pgettext_lazy("offer", "Withdrawn"))],
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
