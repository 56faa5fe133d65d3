"""Lists of packages and of a package's prices."""

from collections.abc import Mapping
from types import MappingProxyType

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.workloads.explaining.cases import Words


class PackageTable(Table):
    """`obstacles`: by id, for those of the page that no machine can run."""

    caption = _("Packages")
    obstacles: Mapping[int, Words] = MappingProxyType({})
    name = Cell(
        template_name="console/cells/package_name.html",
        verbose_name=_("Package"),
        order_by=("name_en",),
        attrs=column("o-1", width="c-4"),
    )
    offer = Cell(
        template_name="console/cells/package_offer.html",
        verbose_name=_("Offer"),
        order_by=("active",),
        attrs=column("o-2", width="c-2"),
    )
    resources = Cell(
        "{% load console %}{{ record|package_resources }}",
        verbose_name=_("Resources"),
        order_by=("cpu_milli", "memory_mib"),
        attrs=column(width=FULL),
    )
    isolation = Cell(
        "{% load pl training %}{% tag record|isolation_label record|isolation_icon %}",
        verbose_name=_("Isolation"),
        attrs=column(width=FULL),
    )
    price = Cell(
        "{% load pl %}{{ record.price.rate_fen_per_hour|rate_amount }}",
        verbose_name="¥/h",
        orderable=False,
        attrs=column(fold="¥/h", numeric=True),
    )
    version = Cell(
        "{% load pl %}{{ record.price.number|dash }}",
        verbose_name=_("Price version"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Price version"), numeric=True),
    )
    sort = tables.Column(verbose_name=_("Position"), attrs=column("pl-roomy", "pl-wide", numeric=True))

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:package", args=[record.pk])}


class VersionTable(Table):
    """What the lists of versions of any price have in common."""

    number = Cell(
        "v{{ record.number }}", verbose_name=_("Version"), orderable=False, attrs=column("pl-name", fold=_("Version"))
    )
    effective_from = Cell(
        "{% load pl %}{% when record.effective_from seconds=True %}",
        verbose_name=_("In force from"),
        orderable=False,
        attrs=column(fold=_("From"), numeric=True),
    )
    effective_to = Cell(
        "{% load pl %}{% when record.effective_to seconds=True %}",
        verbose_name=_("Until"),
        orderable=False,
        attrs=column(fold=_("Until"), numeric=True),
    )


class PriceTable(VersionTable):
    caption = _("Prices")
    state = Cell(
        template_name="console/cells/price_state.html", verbose_name=_("State"), orderable=False, attrs=column()
    )
    rate_fen_per_hour = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.rate_fen_per_hour|rate_amount }}</span>",
        verbose_name="¥/h",
        orderable=False,
        attrs=column(fold="¥/h", numeric=True),
    )

    class Meta(Table.Meta):
        sequence = ("number", "state", "rate_fen_per_hour", "effective_from", "effective_to")
