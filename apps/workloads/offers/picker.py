"""The packages of a form as it shows them: with room, start and price."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.billing.models import Package
from apps.billing.prices.own import OwnPrices, own_terms
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.workloads.explaining.causes import HOPELESS
from apps.workloads.explaining.hypothetical import MOST, Forecast, asking
from apps.workloads.explaining.names import NAMELESS
from apps.workloads.offers.quoting import resources_of
from apps.workloads.placing import is_simulated, read_zones
from apps.workloads.waiting import WaitReport, explain

# From so many seconds on a time is told in hours, and in days.
MINUTES, DAYS = 90 * 60, 36 * 3600


@dataclass(frozen=True, slots=True)
class PackageChoice:
    """One row of the picker. Rates None: it has no price yet and cannot be chosen."""

    package: Package
    room: int
    forecast: Forecast
    own: OwnPrices

    @property
    def list_rate_fen_per_hour(self) -> Decimal | None:
        return self.package.price.rate_fen_per_hour if self.package.price else None

    @property
    def rate_fen_per_hour(self) -> Decimal | None:
        """What the organisation pays: as the quote says it, and the meter charges."""
        listed = self.list_rate_fen_per_hour
        return None if listed is None else self.own.rate(listed)

    @property
    def simulated(self) -> bool:
        return is_simulated(self.package)

    @property
    def plenty(self) -> bool:
        return self.room >= MOST

    @property
    def wait(self) -> WaitReport:
        """In few words: the picker looks no names up."""
        return explain(self.forecast.explanation, names=NAMELESS, asked=True)

    @property
    def hopeless(self) -> bool:
        return self.forecast.explanation.get("cause") in HOPELESS

    @property
    def starts(self) -> str:
        """`now`, `in about 2 h`, `never`, or that it queues where nothing is known."""
        return starts_in(self.forecast)


def starts_in(forecast: Forecast) -> str:
    if forecast.starts_now:
        return _("now")
    if forecast.explanation.get("cause") in HOPELESS:
        return _("never")
    if forecast.start_p50 is None:
        return _("queues")
    seconds = max(60.0, (forecast.start_p50 - db_now()).total_seconds())
    return _("in about %(time)s") % {"time": rough_duration(seconds)}


def rough_duration(seconds: float) -> str:
    """One unit and no more: an estimate is not known to the minute."""
    if seconds < MINUTES:
        count = max(1, round(seconds / 60))
        return ngettext("%(count)s min", "%(count)s min", count) % {"count": count}
    if seconds < DAYS:
        count = round(seconds / 3600)
        return ngettext("%(count)s h", "%(count)s h", count) % {"count": count}
    count = round(seconds / 86400)
    return ngettext("%(count)s day", "%(count)s days", count) % {"count": count}


def package_choices(actor: Actor, packages: Sequence[Package], *, archs: tuple[str, ...] = ()) -> list[PackageChoice]:
    """All packages against the cluster as it is now, in a fixed number of queries.

    `archs`: the only architectures that would do, as the image says; empty for any.
    """
    read_zones(packages)
    specs, own = [replace(resources_of(package), archs=archs) for package in packages], own_terms(actor)
    with asking(actor) as ask:
        return [
            PackageChoice(package, ask.room(spec), forecast, own)
            for package, spec, forecast in zip(packages, specs, ask.forecasts(specs), strict=True)
        ]
