"""The lines of the consumption tree: organisation → workload → hour → slice. The URL says which branch is open."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.billing.models import Charge
from apps.common.actor import Actor
from apps.common.formatting import duration, moment
from apps.common.money import yuan_rate
from apps.console.finance.consumption import selectors as reads
from apps.console.finance.consumption.selectors import Pending, Scope
from apps.console.finance.consumption.words import formula, plain_seconds

# Lines of one level before a link offers more.
STEP = 20


@dataclass(frozen=True, slots=True)
class Line:
    """One row of the tree. `toggle` opens or closes it, `select` explains it; amounts are exact fen."""

    level: int
    label: str
    key: str = ""  # stays the same while the tree changes around it, so that the keyboard keeps its place
    sub: str = ""
    extent: str = ""
    price: str = ""
    formula: str = ""
    exact_fen: Decimal | None = None
    amount_fen: int | None = None
    toggle: str = ""
    select: str = ""
    more: str = ""
    opened: bool = False
    selected: bool = False
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Branch:
    """Which part of the tree is open, and how many lines of each level to show."""

    scope: Scope
    organisation: UUID | None = None
    workload: UUID | None = None
    hour: datetime | None = None
    charge: int | None = None
    limits: dict[str, int] = field(default_factory=dict)

    def url(self, **change: Any) -> str:
        """The page with another branch open; levels below a changed one are closed unless named."""
        order = ("organisation", "workload", "hour", "charge")
        first = min((order.index(name) for name in change if name in order), default=len(order))
        kept = {name: getattr(self, name) for name in order[:first]}
        query = {
            "since": self.scope.since,
            "until": self.scope.until,
            "q": self.scope.search,
            **self.limits,
            **kept,
            **change,
        }
        stated = {name: _text(value) for name, value in query.items() if value not in (None, "")}
        return "?" + urlencode(stated)

    def limit(self, name: str) -> int:
        return self.limits.get(name, STEP)


def _text(value: Any) -> str:
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def lines(actor: Actor, branch: Branch) -> Iterator[Line]:
    """Every visible line from top to bottom; only the open branch is read."""
    rows = list(reads.organisations(actor, branch.scope)[: branch.limit("orgs") + 1])
    for row in rows[: branch.limit("orgs")]:
        opened = row["organisation_id"] == branch.organisation
        yield Line(
            level=1,
            label=row["name"],
            key=f"o-{row['organisation_id']}",
            extent=duration(float(row["seconds"])),
            amount_fen=row["amount_fen"],
            toggle=branch.url(organisation=None if opened else row["organisation_id"]),
            opened=opened,
        )
        if opened:
            yield from _workloads(actor, branch, row["organisation_id"])
            yield _rounding(row)
    if len(rows) > branch.limit("orgs"):
        yield _more(1, branch, "orgs")


def _rounding(row: dict[str, Any]) -> Line:
    """A line for the difference between the lines and what was paid, so that the column adds up."""
    return Line(
        level=2,
        label=_("Rounding"),
        formula=_("carried to the next charge"),
        exact_fen=row["amount_fen"] - row["exact_fen"],
        faint=True,
    )


def _more(level: int, branch: Branch, name: str) -> Line:
    wanted = branch.limit(name) + 5 * STEP
    # Not through `url`: showing more closes nothing.
    opened = {key: getattr(branch, key) for key in ("organisation", "workload", "hour", "charge")}
    return Line(level=level, label=_("Show more"), more=branch.url(**opened, **{name: wanted}))


def _workloads(actor: Actor, branch: Branch, organisation_id: UUID) -> Iterator[Line]:
    rows = list(reads.workloads(actor, branch.scope, organisation_id)[: branch.limit("works") + 1])
    shown = rows[: branch.limit("works")]
    if branch.workload is not None and all(row["workload_id"] != branch.workload for row in shown):
        # The page was opened for a workload further down: show it first rather than not at all.
        chosen = reads.workloads(actor, branch.scope, organisation_id).filter(session__workload_id=branch.workload)
        shown = [*chosen, *shown]
    for row in shown:
        opened = row["workload_id"] == branch.workload
        yield Line(
            level=2,
            label=row["label"],
            key=f"w-{row['workload_id']}",
            sub=row["username"],
            extent=_("%(first)s – %(last)s") % {"first": moment(row["first"]), "last": moment(row["last"])},
            formula=duration(float(row["seconds"])),
            exact_fen=row["exact_fen"],
            toggle=branch.url(workload=None if opened else row["workload_id"]),
            opened=opened,
        )
        if opened:
            yield from _hours(actor, branch, row["workload_id"])
    if len(rows) > branch.limit("works"):
        yield _more(2, branch, "works")


def _hours(actor: Actor, branch: Branch, workload_id: UUID) -> Iterator[Line]:
    rows = list(reads.hours(actor, branch.scope, workload_id)[: branch.limit("hours") + 1])
    for row in rows[: branch.limit("hours")]:
        opened = row["hour"] == branch.hour or len(rows) == 1
        yield Line(
            level=3,
            label=_hour_words(row["hour"]),
            key=f"h-{row['hour']:%Y%m%d%H}",
            extent=ngettext("%(count)s slice", "%(count)s slices", row["slices"]) % {"count": row["slices"]},
            formula=_("%(count)s s") % {"count": plain_seconds(row["seconds"])},
            exact_fen=row["exact_fen"],
            toggle="" if len(rows) == 1 else branch.url(hour=None if opened else row["hour"]),
            opened=opened,
        )
        if opened:
            for charge in reads.slices(actor, branch.scope, workload_id, row["hour"]):
                yield _slice(branch, charge, row["hour"])
    if len(rows) > branch.limit("hours"):
        yield _more(3, branch, "hours")
    for item in reads.pending(actor, workload_id):
        yield _pending(item)


def _hour_words(hour: datetime) -> str:
    local = timezone.localtime(hour)
    return f"{local:%m-%d %H:00} – {local + timedelta(hours=1):%H:00}"


def _slice(branch: Branch, charge: Charge, hour: datetime) -> Line:
    return Line(
        level=4,
        label=span_words(charge.start, charge.end),
        key=f"c-{charge.pk}",
        sub=_("given back") if charge.revision else "",
        extent=_replicas(charge),
        price=_price_words(charge),
        formula=formula(charge),
        exact_fen=charge.exact_fen,
        select=branch.url(hour=hour, charge=charge.pk),
        selected=charge.pk == branch.charge,
    )


def _price_words(charge: Charge) -> str:
    return _("v%(number)s, %(rate)s") % {"number": charge.price_version.number, "rate": yuan_rate(charge.rate)}


def _replicas(charge: Charge) -> str:
    seconds = _("%(count)s s") % {"count": plain_seconds(charge.seconds)}
    return seconds if charge.replicas == 1 else f"{seconds} × {charge.replicas}"


def _pending(item: Pending) -> Line:
    local = timezone.localtime(item.session.rated_until)
    words = _("running") if item.running else _("ended")
    return Line(
        level=4,
        label=_("%(start)s – %(state)s") % {"start": f"{local:%H:%M:%S}", "state": words},
        extent=_("%(count)s s") % {"count": plain_seconds(item.seconds)},
        price=yuan_rate(item.session.price_version.rate_fen_per_hour),
        formula=_("metered, charged within minutes"),
        exact_fen=item.exact_fen,
        faint=True,
    )


def span_words(start: datetime, end: datetime) -> str:
    """`11:20:14 – 12:00:00`, local."""
    return f"{timezone.localtime(start):%H:%M:%S} – {timezone.localtime(end):%H:%M:%S}"
