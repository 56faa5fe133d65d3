"""Whether the owner of what is about to start may still run it, asked of the database for all of a pass together.

A workload keeps the identity of its submission, while rights end: a member is removed, an account disabled, a role
changed, an organisation frozen, a volume not shared any more, a secret deleted. What runs already is not touched by any
of these.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Any, TypeAlias
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from apps.billing import selectors as billing_reads
from apps.common.clock import db_now
from apps.common.permissions import Permission
from apps.notifications.services import notify_organisation
from apps.secrets.giving import SecretRequest, lost_secrets
from apps.tenants.choices import OrganisationStatus
from apps.tenants.models import Membership
from apps.tenants.roles import permissions_of
from apps.workloads import announce, kinds
from apps.workloads.choices import Reason, RightLost
from apps.workloads.models import Attempt, Workload
from apps.workloads.references import Reference
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
    """`kind` is volume, version or model, `right` read or write, `name` that of the volume, dataset or model."""

    kind: str
    name: str
    right: str


@dataclass(frozen=True, slots=True)
class ImageRequest:
    """The container image of a workload, and who has to have a right to it."""

    workload_id: UUID
    organisation_id: UUID
    owner_id: int
    permissions: frozenset[Permission]
    image: Reference


LostMounts: TypeAlias = Callable[[Sequence[MountRequest]], Mapping[UUID, LostMount]]
"""For each workload that has one, a mount that its owner has no right to any more."""


class Pull(Enum):
    """Whether an image may be pulled: `FREE` are those of registries that are not ours to guard.

    `UNSHARED`: another organisation's, which does not share it with the owner's, or not any more.
    """

    FREE = auto()
    UNSHARED = auto()
    REFUSED = auto()
    GRANTED = auto()


_IMAGE_LOST = {Pull.REFUSED: RightLost.IMAGE, Pull.UNSHARED: RightLost.IMAGE_SHARE}

PullRights: TypeAlias = Callable[[ImageRequest], Pull]
PullCredential: TypeAlias = Callable[[ImageRequest], str]
"""A token with which that image alone is pulled, for a while."""


HoldImage: TypeAlias = Callable[[Reference], None]
"""Keeps the image from being deleted until the transaction ends; raises `Invalid` where it was deleted."""


@dataclass(frozen=True, slots=True)
class ImageRefusal:
    """Why a policy lets nothing start in an image. `data`: `cause` findings or unscanned, `count`, `by_operator` …"""

    words: str
    hint: str
    data: Mapping[str, Any]


AdmitImage: TypeAlias = Callable[[UUID, Reference], None]
"""Raises `Invalid` where the policy about the image lets nothing of the organisation start in it."""

RefusedImages: TypeAlias = Callable[[Sequence[tuple[UUID, Reference]]], Sequence[ImageRefusal | None]]
"""The same for many organisations and images at once, in their order."""


def hold_image(organisation_id: UUID, image: object) -> None:
    """Call it after the row that pins the image was written, in the same transaction. Raises `Invalid`."""
    if isinstance(image, Reference):
        hold: HoldImage = import_string(settings.IMAGE_HOLD)
        hold(image)
        admit: AdmitImage = import_string(settings.IMAGE_ADMISSION)
        admit(organisation_id, image)


def refusals(workloads: Iterable[Workload]) -> dict[UUID, Why]:
    """Which of these must not start, and why.

    A constant number of queries, however many are asked about, but for those in container images of our registry.
    """
    asked = list(workloads)
    if not asked:
        return {}
    members, found = _members(asked), {}
    requests: list[MountRequest] = []
    secrets: list[SecretRequest] = []
    for workload in asked:
        member = members.get((workload.organisation_id, workload.owner_id))
        lost = _right_lost(workload, member)
        if lost is not None:
            found[workload.pk] = Why(Reason.UNAUTHORISED, {"lost": lost.value})
        elif member is not None:
            if mounts := workload.frozen_spec.mounts:
                granted = permissions_of(member)
                requests.append(MountRequest(workload.pk, workload.organisation_id, workload.owner_id, granted, mounts))
            if workload.frozen_spec.secrets:
                secrets.append(_secret_request(workload, member))
    for pk, secret in lost_secrets(secrets).items():
        found[pk] = Why(Reason.SECRET_LOST, {"name": secret.name, "lost": secret.lost.value})
    for pk, mount in _lost_mounts(requests).items():
        found[pk] = Why(Reason.MOUNT_LOST, {"kind": mount.kind, "name": mount.name, "right": mount.right})
    found = _refused_images(asked) | _lost_images(asked, members) | found
    return _with_history(found) | _unpaid(asked, found)


def _lost_mounts(requests: Sequence[MountRequest]) -> dict[UUID, LostMount]:
    found: dict[UUID, LostMount] = {}
    for path in settings.MOUNT_RIGHTS:
        ask: LostMounts = import_string(path)
        found |= ask(requests)
    return found


def _lost_images(asked: Sequence[Workload], members: Mapping[tuple[UUID, int], Membership]) -> dict[UUID, Why]:
    """Those whose owner may not pull their container image any more; a few queries for each that has one of ours."""
    may_pull: PullRights = import_string(settings.IMAGE_RIGHTS)
    found = {}
    for workload in asked:
        member = members.get((workload.organisation_id, workload.owner_id))
        requests = [] if member is None else _image_requests(workload, member)
        lost = next((lost for each in requests if (lost := _IMAGE_LOST.get(may_pull(each))) is not None), None)
        if lost is not None:
            found[workload.pk] = Why(Reason.UNAUTHORISED, {"lost": lost.value})
    return found


def _refused_images(asked: Sequence[Workload]) -> dict[UUID, Why]:
    """Those that the policy about their container image does not let start now; it may have changed since."""
    images = [
        (workload, image) for workload in asked for image in workload.frozen_spec.images if isinstance(image, Reference)
    ]
    if not images:
        return {}
    refused: RefusedImages = import_string(settings.IMAGE_POLICY)
    answers = refused([(workload.organisation_id, image) for workload, image in images])
    return {
        workload.pk: Why(Reason.IMAGE_BLOCKED, dict(answer.data))
        for (workload, _image), answer in zip(images, answers, strict=True)
        if answer is not None
    }


def image_request(workload: Workload, image: Reference) -> ImageRequest | None:
    """One of its container images with what its owner's role allows now; None where its owner has left."""
    member = _members([workload]).get((workload.organisation_id, workload.owner_id))
    return None if member is None else _image_request(workload, member, image)


def _image_requests(workload: Workload, member: Membership) -> list[ImageRequest]:
    images = workload.frozen_spec.images
    return [_image_request(workload, member, image) for image in images if isinstance(image, Reference)]


def _image_request(workload: Workload, member: Membership, image: Reference) -> ImageRequest:
    return ImageRequest(workload.pk, workload.organisation_id, workload.owner_id, permissions_of(member), image)


def secret_request(workload: Workload) -> SecretRequest | None:
    """Its secrets with what its owner's role allows now; None where it names none, or its owner has left."""
    if not workload.frozen_spec.secrets:
        return None
    member = _members([workload]).get((workload.organisation_id, workload.owner_id))
    return None if member is None else _secret_request(workload, member)


def _secret_request(workload: Workload, member: Membership) -> SecretRequest:
    return SecretRequest(
        workload_id=workload.pk,
        organisation_id=workload.organisation_id,
        owner_id=workload.owner_id,
        department_id=member.department_id,
        permissions=permissions_of(member),
        references=workload.frozen_spec.secrets,
    )


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


def notify_of_refusal(workload: Workload, why: Why) -> None:
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
