"""Acts on several packages."""

from django.utils.translation import get_language, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from apps.billing import services
from apps.billing.models import Package
from apps.billing.prices.packages.selectors import packages
from apps.common.actor import Actor
from apps.common.bulk import BulkAct, BulkList
from apps.common.permissions import Permission as P
from apps.console.finance.packages.listing import PackageFilter


def _withdraw(actor: Actor, row: Package) -> None:
    services.deactivate_package(actor, package_id=row.pk)


def _offer(actor: Actor, row: Package) -> None:
    services.activate_package(actor, package_id=row.pk)


def _package(row: Package) -> str:
    return row.name(get_language() or "")


PACKAGES = BulkList(
    route="console:packages_bulk",
    back="console:packages",
    acts=(
        BulkAct(
            name="withdraw",
            label=_("Withdraw"),
            icon="eye-off",
            permission=P.PLATFORM_PRICES_MANAGE,
            title=ngettext_lazy("Withdraw %(count)s package?", "Withdraw %(count)s packages?", "count"),
            done=ngettext_lazy("%(count)s package is withdrawn.", "%(count)s packages are withdrawn.", "count"),
            do=_withdraw,
            lost=_("Nothing new starts on them"),
            kept=_("What runs on them goes on, at its price"),
            undo=_("Put them on offer again"),
            dangerous=True,
        ),
        BulkAct(
            name="offer",
            label=_("Put on offer"),
            icon="eye",
            permission=P.PLATFORM_PRICES_MANAGE,
            title=ngettext_lazy("Put %(count)s package on offer?", "Put %(count)s packages on offer?", "count"),
            done=ngettext_lazy("%(count)s package is on offer.", "%(count)s packages are on offer.", "count"),
            do=_offer,
            undo=_("Withdraw them again"),
        ),
    ),
    rows=lambda actor, asked: packages(actor, active_only=False),
    filters=PackageFilter,
    named=_package,
)
