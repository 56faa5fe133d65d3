"""What the organisation's money went to: by department, member, package, kind of card, tag; and over time.

The database adds up the kept sums of each session and day by person and package, which are few; departments and kinds
of card are derived from those.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import models
from django.db.models import Count, Q, QuerySet, Sum
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from apps.billing.choices import Resource
from apps.billing.consumption.selectors import ChargeFilter, session_days
from apps.billing.consumption.tag_costs import UNTAGGED, has_any_tag, sums_by_tag, tag_spellings
from apps.billing.models import Package, SessionDay
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.tenants.models import Department, Membership, User

# Series of the chart besides the rest.
MOST_SERIES = 4


class Dimension(models.TextChoices):
    """What costs are grouped by."""

    DEPARTMENT = "department", gettext_lazy("Department")
    MEMBER = "member", gettext_lazy("Member")
    PACKAGE = "package", gettext_lazy("Package")
    GPU = "gpu", gettext_lazy("GPU model")
    TAG = "tag", gettext_lazy("Tag")

    @property
    def overlaps(self) -> bool:
        """Whether a run may count under several lines, so that these add up to more than what was charged."""
        return self is Dimension.TAG


class Step(models.TextChoices):
    DAY = "day", gettext_lazy("By day")
    MONTH = "month", gettext_lazy("By month")


@dataclass(frozen=True, slots=True)
class Cost:
    """One line: whole and exact fen, metered seconds, runs; `parts` are the keys in the database that it adds up."""

    key: str
    label: str
    sub: str
    amount_fen: int
    exact_fen: Decimal
    seconds: Decimal
    runs: int
    parts: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Total:
    """Whole and exact fen, metered seconds, and how many charges they are."""

    amount_fen: int
    exact_fen: Decimal
    seconds: Decimal
    charges: int


@dataclass(frozen=True, slots=True)
class Name:
    key: str
    label: str
    sub: str = ""


# Names of the lines that rows of the database belong to.
Namer = Callable[[Any], Name]


def dimensions(actor: Actor) -> list[Dimension]:
    """Dimensions that the actor may group by. Somebody who sees only their own runs cannot group by person."""
    return list(Dimension) if actor.may(Permission.BILLING_VIEW) else [Dimension.PACKAGE, Dimension.GPU, Dimension.TAG]


def total(actor: Actor, *, filters: ChargeFilter) -> Total:
    """Total of all charges of a period, independent of any grouping."""
    sums = session_days(actor, filters=filters).aggregate(
        fen=Sum("amount_fen"), exact=Sum("exact_fen"), length=Sum("seconds"), count=Sum("charges")
    )
    nothing = Decimal(0)
    return Total(sums["fen"] or 0, sums["exact"] or nothing, sums["length"] or nothing, sums["count"] or 0)


def costs(actor: Actor, *, filters: ChargeFilter, by: Dimension) -> list[Cost]:
    """The lines of a period, the dearest first. Their sum is that of the charges, unless they overlap."""
    lines = _by_tag(actor, filters) if by is Dimension.TAG else _by_column(actor, filters, by)
    return sorted(lines, key=lambda line: (-line.amount_fen, line.label))


def _by_tag(actor: Actor, filters: ChargeFilter) -> list[Cost]:
    found = sums_by_tag(session_days(actor, filters=filters))
    written = tag_spellings(actor.organisation(), found.keys() - {UNTAGGED})
    return [Cost(key, written.get(key, key) or _("Without a tag"), "", *sums, (key,)) for key, sums in found.items()]


def _by_column(actor: Actor, filters: ChargeFilter, by: Dimension) -> list[Cost]:
    rows = session_days(actor, filters=filters).values_list(_column(by))
    found = rows.annotate(
        fen=Sum("amount_fen"),
        exact=Sum("exact_fen"),
        length=Sum("seconds"),
        runs=Count("session__workload_id", distinct=True),
    )
    lines: dict[str, Cost] = {}
    grouped = list(found)
    named = _namer(actor, by, [row[0] for row in grouped])
    for part, fen, exact, length, runs in grouped:
        name = named(part)
        lines[name.key] = _added(lines.get(name.key), name, part, (fen, exact, length, runs))
    return list(lines.values())


def _added(known: Cost | None, name: Name, part: Any, sums: tuple[int, Decimal, Decimal, int]) -> Cost:
    fen, exact, length, runs = sums
    if known is None:
        return Cost(name.key, name.label, name.sub, fen, exact, length, runs, (part,))
    return Cost(
        known.key,
        known.label,
        known.sub,
        known.amount_fen + fen,
        known.exact_fen + exact,
        known.seconds + length,
        known.runs + runs,
        (*known.parts, part),
    )


def _column(by: Dimension) -> str:
    return "session__user_id" if by in (Dimension.DEPARTMENT, Dimension.MEMBER) else "price_version__package_id"


def over_time(
    actor: Actor, *, filters: ChargeFilter, by: Dimension, step: Step, lines: Sequence[Cost]
) -> list[tuple[str, Mapping[date, int]]]:
    """Fen of each day, or of each month by its first day, for the dearest lines and for the rest together."""
    rows = session_days(actor, filters=filters)
    shown = lines[:MOST_SERIES]
    series: list[tuple[str, Mapping[date, int]]] = []
    for line in shown:
        series.append((line.label, _by_step(rows.filter(_belongs(by, line.parts)), step)))
    if len(lines) > len(shown):
        parts = [part for line in shown for part in line.parts]
        series.append((_("All others"), _by_step(rows.exclude(_belongs(by, parts)), step)))
    return series


def _belongs(by: Dimension, parts: Sequence[Any]) -> Q:
    """Rows of these parts."""
    return has_any_tag(parts) if by is Dimension.TAG else Q(**{f"{_column(by)}__in": parts})


def _by_step(rows: QuerySet[SessionDay], step: Step) -> dict[date, int]:
    days = rows.values_list("day").annotate(fen=Sum("amount_fen")).order_by("day")
    found: dict[date, int] = {}
    for day, fen in days:
        first = day.replace(day=1) if step is Step.MONTH else day
        found[first] = found.get(first, 0) + fen
    return found


def _namer(actor: Actor, by: Dimension, parts: Sequence[Any]) -> Namer:
    if by is Dimension.MEMBER:
        return _members(parts)
    if by is Dimension.DEPARTMENT:
        return _departments(actor, parts)
    return _packages(parts) if by is Dimension.PACKAGE else _gpus(parts)


def _members(parts: Sequence[Any]) -> Namer:
    people = User.objects.in_bulk(list(parts))
    return lambda part: Name(str(part), people[part].display_name, people[part].username)


def _departments(actor: Actor, parts: Sequence[Any]) -> Namer:
    """The department that a person is in now, with its place in the tree."""
    organisation_id = actor.organisation()
    members = Membership.objects.filter(organisation_id=organisation_id, user_id__in=list(parts))
    homes: dict[int, UUID | None] = dict(members.values_list("user_id", "department_id"))
    tree = {each.pk: each for each in Department.objects.filter(organisation_id=organisation_id)}

    def named(part: Any) -> Name:
        if part not in homes:
            return Name("left", _("Have left the organisation"))
        home = homes[part]
        if home is None or home not in tree:
            return Name("none", _("No department"))
        return Name(str(home), tree[home].name, " / ".join(_ancestors(tree, tree[home])))

    return named


def _ancestors(tree: Mapping[UUID, Department], department: Department) -> list[str]:
    names: list[str] = []
    while department.parent_id is not None and department.parent_id in tree and len(names) < len(tree):
        department = tree[department.parent_id]
        names.insert(0, department.name)
    return names


def _packages(parts: Sequence[Any]) -> Namer:
    packages, language = Package.objects.in_bulk(list(parts)), get_language() or "en"
    return lambda part: Name(str(part), packages[part].name(language), _model_of(packages[part]))


def _gpus(parts: Sequence[Any]) -> Namer:
    packages = Package.objects.in_bulk(list(parts))

    def named(part: Any) -> Name:
        label = _model_of(packages[part])
        return Name(label, label)

    return named


def _model_of(package: Package) -> str:
    if package.resource == Resource.STORAGE:
        return _("Storage")
    if not package.gpu_count:
        return _("CPU only")
    return package.gpu_model or _("Any GPU model")
