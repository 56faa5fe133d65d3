"""Packages with their prices in force, as a file."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.exports.columns import CellFormat, Column
from apps.billing.exports.lists import ExportedList
from apps.billing.models import Package
from apps.billing.prices.packages.selectors import packages
from apps.common.permissions import Permission as P
from apps.common.spreadsheets import Cell
from apps.console.finance.packages.listing import PackageFilter


def _package(row: Package) -> list[Cell]:
    price = row.price
    return [
        row.name_zh,
        row.name_en,
        str(_("On offer") if row.active else pgettext_lazy("offer", "Withdrawn")),
        row.cpu_milli // 1000,
        row.memory_mib,
        row.gpu_count,
        row.gpu_model,
        row.get_gpu_mode_display(),
        row.mig_profile,
        str(_("yes") if row.rdma else _("no")),
        row.get_isolation_display(),
        price.rate_fen_per_hour / 100 if price else None,
        price.number if price else None,
    ]


PACKAGES = ExportedList(
    name="packages",
    label=_("Packages"),
    permission=P.PLATFORM_PRICES_VIEW,
    platform=True,
    rows=lambda actor, asked: packages(actor, active_only=False),
    filters=PackageFilter,
    order=("sort", "pk"),
    columns=(
        Column(_("Name (Chinese)"), width=22),
        Column(_("Name (English)"), width=22),
        Column(_("Offer")),
        Column(_("CPU cores"), CellFormat.WHOLE, 10),
        Column(_("Memory, MiB"), CellFormat.WHOLE, 12),
        Column(_("Cards"), CellFormat.WHOLE, 8),
        Column(_("GPU model"), width=18),
        Column(_("GPU mode")),
        Column(_("MIG profile")),
        Column(_("RDMA")),
        Column(_("Isolation")),
        Column("¥/h", CellFormat.EXACT),
        Column(_("Price version"), CellFormat.WHOLE, 10),
    ),
    cells=_package,
)
