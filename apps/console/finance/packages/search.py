"""Packages, found by either name or by their GPU model."""

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.billing.prices.packages.selectors import packages
from apps.common.actor import Actor
from apps.common.finding.sources import Row, Rows, Source
from apps.common.permissions import Permission


def _rows(actor: Actor) -> QuerySet[Package]:
    actor.require(Permission.PLATFORM_PRICES_VIEW)
    return packages(actor, active_only=False)


def _hit(actor: Actor, row: Row) -> tuple[str, str, str]:
    chinese = (get_language() or "").startswith("zh")
    name = row["name_zh" if chinese else "name_en"]
    return name, " · ".join(filter(None, [row["gpu_model"], row["mig_profile"]])), _page(row)


def _page(row: Row) -> str:
    return reverse("console:package", args=[row["pk"]])


PACKAGES = Source(
    name="packages",
    label=_("Packages"),
    icon="package",
    console=Permission.PLATFORM_PRICES_VIEW,
    find=Rows(
        rows=_rows,
        hit=_hit,
        fields=("name_zh", "name_en", "gpu_model", "mig_profile"),
        newest="pk",
    ),
)
