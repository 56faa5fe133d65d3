"""Whether the owner of what is about to start may still run it, asked of the database for all of a pass together.

A workload keeps the identity of its submission, while rights end: a member is removed, an account disabled, a role
changed, an organisation frozen, a volume not shared any more. What runs already is not touched by any of these.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from apps.billing import selectors as billing_reads
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Membership
from apps.tenants.roles import permissions_of
from apps.workloads import announce, kinds
from apps.workloads.choices import Reason, RightLost
from apps.workloads.models import Attempt, Workload
from apps.workloads.spec import DataMount
from apps.workloads.states import Why


@dataclass(frozen=True, slots=True)
class MountRequest:
    """The mounts of a workload, and who has to have a right to them: its owner, with what their role allows now."""

    workload_id: UUID
    organisation_id: UUID
    owner_id: int
    permissions: frozenset[Permission]
    mounts: tuple[DataMount, ...]


@dataclass(frozen=True, slots=True)
class LostMount:
    """`kind` is volume or version, `right` read or write, `name` that of the volume or dataset."""

    kind: str
    name: str
    right: str


LostMounts: TypeAlias = Callable[[Sequence[MountRequest]], Mapping[UUID, LostMount]]
"""For each workload that has one, a mount that its owner has no right to any more."""


def refusals(workloads: Iterable[Workload]) -> dict[UUID, Why]:
    """Which of these must not start, and why. A constant number of queries, however many are asked about."""
    asked = list(workloads)
    if not asked:
        return {}
    members, found = _members(asked), {}
    requests = []
    for workload in asked:
        member = members.get((workload.organisation_id, workload.owner_id))
        lost = _right_lost(workload, member)
        if lost is not None:
            found[workload.pk] = Why(Reason.UNAUTHORISED, {"lost": lost.value})
        elif member is not None and (mounts := workload.frozen_spec.mounts):
            granted = permissions_of(member)
            requests.append(MountRequest(workload.pk, workload.organisation_id, workload.owner_id, granted, mounts))
    lost_mounts: LostMounts = import_string(settings.MOUNT_RIGHTS)
    for pk, mount in lost_mounts(requests).items():
        found[pk] = Why(Reason.MOUNT_LOST, {"kind": mount.kind, "name": mount.name, "right": mount.right})
    return _with_history(found) | _unpaid(asked, found)


def _with_history(refused: Mapping[UUID, Why]) -> dict[UUID, Why]:
    """With `ran` in the data: whether an earlier attempt ran, which is charged."""
    if not refused:
        return {}
    rows = Attempt.objects.filter(workload__in=refused, started_at__isnull=False)
    ran = set(rows.values_list("workload_id", flat=True))
    return {pk: replace(why, data={**why.data, "ran": pk in ran}) for pk, why in refused.items()}


def _members(workloads: Sequence[Workload]) -> dict[tuple[UUID, int], Membership]:
    rows = Membership.objects.filter(
        organisation_id__in={workload.organisation_id for workload in workloads},
        user_id__in={workload.owner_id for workload in workloads},
    )
    found = rows.select_related("user", "organisation", "own_role")
    return {(member.organisation_id, member.user_id): member for member in found}


def _right_lost(workload: Workload, member: Membership | None) -> RightLost | None:
    if member is None:
        return RightLost.MEMBERSHIP
    if not member.user.is_active:
        return RightLost.ACCOUNT
    if member.organisation.status != OrganisationStatus.ACTIVE:
        return RightLost.FROZEN
    if kinds.kind_of(workload).rights.use not in permissions_of(member):
        return RightLost.ROLE
    return None


def _unpaid(asked: Sequence[Workload], refused: Mapping[UUID, Why]) -> dict[UUID, Why]:
    """What arrears forbid to place, except for what is paid in advance."""
    suspended = billing_reads.suspended_organisation_ids() & {workload.organisation_id for workload in asked}
    if not suspended:
        return {}
    covered = billing_reads.covered_workloads(suspended) | set(refused)
    due = (workload.pk for workload in asked if workload.organisation_id in suspended)
    return {pk: Why(Reason.ARREARS) for pk in due if pk not in covered}


def tell(workload: Workload, why: Why) -> None:
    """Say that it was not started: to its owner each time, to administrators once a day for each owner and cause.

    Arrears are told by billing.
    """
    if why.reason == Reason.ARREARS:
        return
    member = _members([workload]).get((workload.organisation_id, workload.owner_id))
    if member is not None and member.user.is_active:
        key = f"{workload.pk}:{workload.attempt_number}"
        announce.tell_owner(workload, "not_started", {"reason": why.reason, **why.data}, key)
    if why.reason == Reason.UNAUTHORISED:
        _tell_administrators(workload, why)


def _tell_administrators(workload: Workload, why: Why) -> None:
    lost = why.data["lost"]
    notify_organisation(
        organisation_id=workload.organisation_id,
        kind="member.work_not_started",
        data={"person": workload.owner.display_name, "name": workload.name, "lost": lost},
        dedup=f"not_started:{workload.organisation_id}:{workload.owner_id}:{lost}:{db_now().date()}",
        permission=Permission.MEMBERS_MANAGE,
    )
