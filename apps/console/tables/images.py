"""Lists of images, and of who uses one."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, HALF, Table, column


class ImageTable(Table):
    caption = _("Images")
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
        verbose_name=_("Packages"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Packages"), numeric=True),
    )
    environments = tables.Column(
        verbose_name=_("Environments"), orderable=False, attrs=column(fold=_("Environments"), numeric=True)
    )
    runs = tables.Column(
        verbose_name=_("Training runs"), orderable=False, attrs=column(fold=_("Training runs"), numeric=True)
    )
    created_at = Cell(
        "{% load pl %}{% when record.created_at %}",
        verbose_name=_("Created"),
        attrs=column("pl-roomy", fold=_("Created"), numeric=True),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:image", args=[record.pk])}


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
