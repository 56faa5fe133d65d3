"""The longest that one start may run: set by the platform's staff, for each organisation and kind of work.

A limit counts for what is submitted from then on, and for who wants more time for what runs. What waits or runs when
the limit changes keeps the end that it has: nobody loses work that was started under another rule.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.formatting import duration
from apps.common.permissions import Permission
from apps.tenants import quotas, settings
from apps.tenants.models import Organisation
from apps.workloads import kinds
from apps.workloads.choices import LIVE, Kind, Status
from apps.workloads.models import RunTimeLimit, Workload
from apps.workloads.run_times import RunTimes, check_seconds


@dataclass(frozen=True, slots=True)
class RunTimeSettings:
    """`longest_s`: seconds by kind, for organisations without a limit of their own; a kind that it lacks has none."""

    KEY: ClassVar[str] = "run_times"

    longest_s: Mapping[str, Any] = field(default_factory=dict)

    def validate(self) -> None:
        """Raises `Invalid` with the kind at fault."""
        for kind, seconds in self.longest_s.items():
            if kind not in {rules.name for rules in kinds.every()}:
                raise Invalid.field("longest_s", _("There is no such kind of work."))
            check_seconds(kind, seconds)


@dataclass(frozen=True, slots=True)
class Limit:
    """`longest_s` None: however long. `own`: the organisation's, not the platform's default."""

    longest_s: int | None
    own: bool = False


DEFAULT = Limit(None)
"""For `set_limits`: whatever the platform's default is."""


def limit_of(organisation_id: UUID, kind: Kind) -> Limit:
    own = RunTimeLimit.objects.filter(organisation_id=organisation_id, kind=kind).values_list("longest_s").first()
    return _default(kind) if own is None else Limit(own[0], own=True)


def limits_of(organisation_id: UUID) -> dict[Kind, Limit]:
    """Of every kind, in their order."""
    rows = RunTimeLimit.objects.filter(organisation_id=organisation_id)
    own = {kind: Limit(seconds, own=True) for kind, seconds in rows.values_list("kind", "longest_s")}
    return {rules.name: own.get(rules.name) or _default(rules.name) for rules in kinds.every()}


def _default(kind: Kind) -> Limit:
    return Limit(settings.get(RunTimeSettings).longest_s.get(kind))


def within(organisation_id: UUID, kind: Kind, times: RunTimes) -> RunTimes:
    """The times of a new start: where nobody set a longest one, the limit is. Raises `Invalid` for more than it."""
    limit = limit_of(organisation_id, kind).longest_s
    if limit is None:
        return times
    if times.longest_s is not None and times.longest_s > limit:
        raise _too_long(limit)
    return replace(times, longest_s=times.longest_s or limit)


def refuse_above(organisation_id: UUID, kind: Kind, longest_s: int | None) -> None:
    """For what is kept for later starts. Raises `Invalid`."""
    limit = limit_of(organisation_id, kind).longest_s
    if limit is not None and longest_s is not None and longest_s > limit:
        raise _too_long(limit)


def carried(organisation_id: UUID, kind: Kind, times: RunTimes) -> RunTimes:
    """Of what starts again as it was: times from before the limit end with it."""
    limit = limit_of(organisation_id, kind).longest_s
    if limit is None:
        return times
    expected = None if times.expected_s is None else min(times.expected_s, limit)
    return replace(times, expected_s=expected, longest_s=min(times.longest_s or limit, limit))


def refuse_raise(workload: Workload, longest_s: int | None) -> None:
    """To raise the time of what lives above the limit; to lower it is always allowed. Raises `Invalid`."""
    before = workload.longest_s
    if before is None or (longest_s is not None and longest_s <= before):
        return
    limit = limit_of(workload.organisation_id, Kind(workload.kind)).longest_s
    if limit is not None and (longest_s is None or longest_s > limit):
        raise _too_long(limit)


def _too_long(limit: int) -> Invalid:
    return Invalid.field(
        "longest",
        _("Your organisation lets it run for %(time)s at most.") % {"time": duration(limit)},
        hint=_("Save checkpoints and continue from them, or ask the platform's administrators for a longer limit."),
    )


def set_limits(actor: Actor, *, organisation_id: UUID, limits: Mapping[Kind, Limit]) -> int:
    """Set the limits of these kinds, or with `DEFAULT` go back to the platform's; how many changed.

    What waits or runs keeps the end that it has. Raises `Invalid` beside the kind, `NotFound`.
    """
    actor.require(Permission.PLATFORM_TENANTS_MANAGE)
    known = {rules.name for rules in kinds.every()}
    for kind, limit in limits.items():
        if kind not in known:
            raise Invalid.field("kind", _("There is no such kind of work."))
        check_seconds(kind, limit.longest_s)
    with transaction.atomic():
        quotas.lock(organisation_id)
        organisation = Organisation.objects.filter(pk=organisation_id).first()
        if organisation is None:
            raise NotFound
        before = limits_of(organisation_id)
        changed = {
            kind: new for kind, new in limits.items() if before[kind].own != new.own or _differ(before[kind], new)
        }
        for kind, limit in changed.items():
            _write(actor, organisation, kind, before[kind], limit)
    return len(changed)


def _differ(before: Limit, after: Limit) -> bool:
    return after.own and before.longest_s != after.longest_s


def _write(actor: Actor, organisation: Organisation, kind: Kind, before: Limit, limit: Limit) -> None:
    row = RunTimeLimit.objects.filter(organisation=organisation, kind=kind)
    if limit.own:
        RunTimeLimit.objects.update_or_create(
            organisation=organisation, kind=kind, defaults={"longest_s": limit.longest_s, "updated_at": Now()}
        )
    else:
        row.delete()
        limit = _default(kind)
    record(
        actor,
        action="organisation.run_time_limit",
        organisation_id=organisation.pk,
        target=Target("organisation", str(organisation.pk), organisation.name),
        before=_audit_values(kind, before),
        after=_audit_values(kind, limit),
    )


def _audit_values(kind: Kind, limit: Limit) -> dict[str, Any]:
    return {"kind": kind, "longest_s": limit.longest_s, "own": limit.own}


@dataclass(frozen=True, slots=True)
class LimitLine:
    """One kind on the page. `beyond`: how much that waits or runs may run for longer than the limit."""

    rules: kinds.KindRules
    limit: Limit
    default_s: int | None
    beyond: int


def limit_lines(organisation_id: UUID) -> list[LimitLine]:
    """Of every kind; for who may see the organisation."""
    found = limits_of(organisation_id)
    return [
        LimitLine(rules, found[rules.name], _default(rules.name).longest_s, _beyond(organisation_id, rules.name, limit))
        for rules in kinds.every()
        for limit in [found[rules.name].longest_s]
    ]


def _beyond(organisation_id: UUID, kind: Kind, limit: int | None) -> int:
    if limit is None:
        return 0
    longer = Q(longest_s__isnull=True) | Q(longest_s__gt=limit)
    live = Workload.objects.filter(longer, organisation_id=organisation_id, kind=kind)
    return live.filter(status__in=LIVE - {Status.STOPPING}).count()
