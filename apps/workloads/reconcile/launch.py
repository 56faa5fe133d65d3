"""From an attempt's rows to the driver's request."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from django.conf import settings
from django.utils.crypto import salted_hmac
from django.utils.module_loading import import_string

from apps.clusters.models import Node
from apps.secrets import giving
from apps.workloads import software_sources
from apps.workloads.dataset_copies import mount_copies
from apps.workloads.drivers.base import (
    PULL_CREDENTIAL,
    DeviceGrant,
    Gang,
    LaunchRequest,
    Mount,
    PullRules,
    Reference,
    RuntimeImage,
    RuntimeKind,
    Secret,
)
from apps.workloads.drivers.disk import DiskLimits
from apps.workloads.drivers.request import DATA, Stage, pull_credential_of_stage
from apps.workloads.models import Attempt, Member, Placement, Workload
from apps.workloads.reconcile import gang_networks
from apps.workloads.spec import AnyImage, DataMount, Image
from apps.workloads.start_rights import Pull, PullCredential, PullRights, image_request, secret_request

GANG_KEY = "PLSTACK_GANG_KEY"
RESTART = "PLSTACK_RESTART"
REPLICA = "PLSTACK_REPLICA"
"""Variable of a program: how many times it was started before. It finds what those left in its output folder."""


@dataclass(frozen=True, slots=True)
class TrackingAccess:
    """With what a program says what it measures. `needs_door`: it has no other way to the address."""

    env: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[Secret, ...] = ()
    needs_door: bool = False


FindAccess: TypeAlias = Callable[[Attempt, Node], TrackingAccess]
"""For the program of an attempt that starts on a node."""


def launch_request(attempt: Attempt, members: Sequence[Member] = (), rank: int = 0) -> LaunchRequest:
    """Plain data for `Driver.launch`, which finds the platform's data itself.

    Of a gang, for its member of this rank. `members`: all of them, by rank, with their nodes.
    """
    workload = attempt.workload
    spec = workload.frozen_spec
    program: Attempt | Member = members[rank] if members else attempt
    start = spec.start_of(rank)
    tracking = _tracking(attempt, program.node)
    return LaunchRequest(
        attempt_id=program.pk,
        workload_id=workload.pk,
        tenant_id=workload.organisation_id,
        node=program.node.name,
        image=_image(spec.image),
        argv=start.argv,
        env={**tracking.env, **spec.env, **start.env, RESTART: str(attempt.number - 1), **_replica(workload)},
        mounts=_mounts(program.node, spec.mounts),
        workdir=spec.workdir,
        cpu_milli=spec.cpu_milli,
        memory_mib=spec.memory_mib,
        devices=tuple(_grant(p) for p in _cards(attempt, rank)),
        network=spec.network,
        ports=tuple(port.number for port in spec.ports),
        tools=tuple(_runtime(tool) for tool in spec.tools),
        egress=spec.egress,
        tracking=tracking.needs_door,
        disk=DiskLimits(settings.RUN_SCRATCH_MIB, settings.RUN_FILES, settings.RUN_LOG_MIB),
        secrets=(*_given(attempt, members), *tracking.secrets),
        copies=tuple(_mount(copy) for copy in spec.copies),
        gang=_gang(attempt, members, rank) if members else None,
        sources=software_sources.chosen(),
        pull=settings.IMAGE_PULL_RULES if isinstance(spec.image, Reference) else PullRules(),
        builds=spec.builds,
        rdma=spec.rdma,
        stages=tuple(Stage(each.image, each.argv, each.writes) for each in spec.stages),
    )


def _given(attempt: Attempt, members: Sequence[Member]) -> tuple[Secret, ...]:
    key = _gang_key(attempt) if members else ()
    return (*_secrets(attempt.workload), *key, *_pull_credential(attempt.workload))


def _tracking(attempt: Attempt, node: Node) -> TrackingAccess:
    if attempt.workload.kind not in settings.TRACKED_KINDS:
        return TrackingAccess()
    find: FindAccess = import_string(settings.TRACKING_ACCESS)
    return find(attempt, node)


def _gang(attempt: Attempt, members: Sequence[Member], rank: int) -> Gang:
    nodes = tuple(member.node.name for member in members)
    return Gang(attempt.pk, rank, nodes, gang_networks.overlay_of(attempt, members))


def _replica(workload: Workload) -> dict[str, str]:
    return {} if workload.replica_index is None else {REPLICA: str(workload.replica_index)}


def _secrets(workload: Workload) -> tuple[Secret, ...]:
    """Opened here and nowhere before. One that its owner may not use any more is withheld, so that nothing starts."""
    references = workload.frozen_spec.secrets
    request = secret_request(workload)
    values = [None] * len(references) if request is None else giving.values(request)
    pairs = zip(references, values, strict=True)
    return tuple(Secret(each.name, each.variable, each.file, value) for each, value in pairs)


def _pull_credential(workload: Workload) -> tuple[Secret, ...]:
    """Where an image lies in a registry of ours: a token for it alone, or nothing where it may not be pulled.

    Also for an image that its machine has already: what is cached opens only to whom it belongs.
    """
    spec = workload.frozen_spec
    names = [PULL_CREDENTIAL, *map(pull_credential_of_stage, range(len(spec.stages)))]
    found = [_credential(workload, name, image) for name, image in zip(names, spec.images, strict=True)]
    return tuple(each for each in found if each is not None)


def _credential(workload: Workload, name: str, image: AnyImage) -> Secret | None:
    if not isinstance(image, Reference):
        return None
    request = image_request(workload, image)
    may_pull: PullRights = import_string(settings.IMAGE_RIGHTS)
    right = Pull.REFUSED if request is None else may_pull(request)
    if right is Pull.FREE or request is None:
        return None
    credential: PullCredential = import_string(settings.IMAGE_CREDENTIAL)
    return Secret(name, value=credential(request) if right is Pull.GRANTED else None)


def _gang_key(attempt: Attempt) -> tuple[Secret, ...]:
    """By which members of this attempt know each other; the same whenever one of them is launched."""
    value = salted_hmac("workloads.gang", str(attempt.pk), algorithm="sha256").hexdigest()
    return (Secret(GANG_KEY, GANG_KEY, value=value),)


def _image(image: AnyImage) -> RuntimeImage | Reference:
    return image if isinstance(image, Reference) else _runtime(image)


def _runtime(image: Image) -> RuntimeImage:
    return RuntimeImage(image.name, image.requirements, RuntimeKind(image.kind))


def _mounts(node: Node, mounts: Sequence[DataMount]) -> tuple[Mount, ...]:
    """With what the node is to copy first of them."""
    copies = mount_copies(node, mounts)
    return tuple(replace(_mount(mount), copy=copies.get(mount.source)) for mount in mounts)


def _mount(mount: DataMount) -> Mount:
    return Mount(DATA, mount.source, mount.target, mount.read_only, mount.limit_mib)


def _cards(attempt: Attempt, rank: int) -> list[Placement]:
    pieces = Placement.objects.filter(attempt=attempt, rank=rank, accelerator__isnull=False)
    return list(pieces.select_related("accelerator").order_by("accelerator__index"))


def _grant(piece: Placement) -> DeviceGrant:
    card = piece.accelerator
    if card is None:
        raise ValueError("a placement without a card grants none")
    return DeviceGrant(
        uuid=card.uuid,
        index=card.index,
        vendor=card.vendor,
        model=card.model,
        memory_mib=piece.device_memory_mib or card.memory_mib,
        cores_pct=max(1, piece.core_milli // 10),
        mode=card.mode,
        profile=piece.mig_profile,
        slot=piece.mig_start,
    )
