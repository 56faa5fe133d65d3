"""What stands above and below a limit: the tightest limit over it, and what the departments right below were given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum

from apps.console.kit.quotas import shown_amount, unit
from apps.tenants import tree
from apps.tenants.choices import Resource
from apps.tenants.models import Department, Quota
from apps.tenants.quotas import Line


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Of one line. `above` None: nothing above is limited; `of` empty: it is the organisation's. `below`: the sum of
    the limits of the departments right below, None where none of them has one.
    """

    above: int | None = None
    of: str = ""
    below: int | None = None

    def is_above(self, limit: int | None) -> bool:
        """Whether a limit promises more than the level above has: it never counts."""
        return limit is not None and self.above is not None and limit > self.above

    def is_promised_away(self, limit: int | None) -> bool:
        """Whether what is below was promised more than there is here; fine, as long as not all ask at once."""
        has = [each for each in (limit, self.above) if each is not None]
        return self.below is not None and bool(has) and self.below > min(has)


def neighbours(
    organisation_id: UUID, *, above_from: UUID | None, below_of: UUID | None, people: bool = False
) -> dict[Line, Neighbours]:
    """By line. `above_from`: the lowest department above; `below_of`: whose children count (None: those at the top).

    `people`: nothing is below a person.
    """
    found = {
        line: Neighbours(above=limit, of=name) for line, (limit, name) in _above(organisation_id, above_from).items()
    }
    if people:
        return found
    for line, total in _below(organisation_id, below_of).items():
        known = found.get(line, Neighbours())
        found[line] = Neighbours(known.above, known.of, total)
    return found


def _above(organisation_id: UUID, department_id: UUID | None) -> dict[Line, tuple[int, str]]:
    """The tightest limit of the departments from here to the top, and of the organisation."""
    level = Q(department__isnull=True) | Q(department_id__in=tree.ancestors(department_id))
    rows = _limits(organisation_id).filter(level).annotate(name=F("department__name")).order_by("-limit")
    return {(Resource(row.resource), row.model): (row.limit or 0, row.name or "") for row in rows}


def _below(organisation_id: UUID, department_id: UUID | None) -> dict[Line, int]:
    children = Department.objects.filter(organisation_id=organisation_id, parent_id=department_id)
    rows = _limits(organisation_id).filter(department__in=children).order_by().values_list("resource", "model")
    return {(Resource(resource), model): total for resource, model, total in rows.annotate(total=Sum("limit"))}


def _limits(organisation_id: UUID) -> "QuerySet[Quota]":
    rows: QuerySet[Quota] = Quota.objects.filter(
        organisation_id=organisation_id, user__isnull=True, limit__isnull=False
    )
    return rows


def neighbour_words(near: Mapping[Line, Neighbours], line: Line, limit: int | None) -> dict[str, Any]:
    """What a limit is measured by, as pages show it."""
    resource, found = line[0], near.get(line, Neighbours())
    name = unit(resource)[1]
    return {
        "above": None if found.above is None else f"{shown_amount(resource, found.above)} {name}",
        "above_of": found.of,
        "too_high": found.is_above(limit),
        "below": None if found.below is None else f"{shown_amount(resource, found.below)} {name}",
        "promised_away": found.is_promised_away(limit),
    }
