"""From an attempt's rows to the driver's request."""

from django.conf import settings

from apps.workloads.drivers.base import DeviceGrant, LaunchRequest, Mount, Reference, RuntimeImage, RuntimeKind
from apps.workloads.drivers.disk import DiskLimits
from apps.workloads.drivers.request import DATA
from apps.workloads.models import Attempt, Placement
from apps.workloads.spec import AnyImage, DataMount, Image

RESTART = "PLSTACK_RESTART"
"""Variable of a program: how many times it was started before. It finds what those left in its output folder."""


def launch_request(attempt: Attempt) -> LaunchRequest:
    """Plain data for `Driver.launch`, which finds the platform's data itself."""
    workload = attempt.workload
    spec = workload.frozen_spec
    return LaunchRequest(
        attempt_id=attempt.pk,
        workload_id=workload.pk,
        tenant_id=workload.organisation_id,
        node=attempt.node.name,
        image=_image(spec.image),
        argv=spec.argv,
        env={**spec.env, RESTART: str(attempt.number - 1)},
        mounts=tuple(_mount(mount) for mount in spec.mounts),
        workdir=spec.workdir,
        cpu_milli=spec.cpu_milli,
        memory_mib=spec.memory_mib,
        devices=tuple(_grant(p) for p in _cards(attempt)),
        network=spec.network,
        ports=tuple(port.number for port in spec.ports),
        tools=tuple(_runtime(tool) for tool in spec.tools),
        egress=spec.egress,
        disk=DiskLimits(settings.RUN_SCRATCH_MIB, settings.RUN_FILES, settings.RUN_LOG_MIB),
    )


def _image(image: AnyImage) -> RuntimeImage | Reference:
    return image if isinstance(image, Reference) else _runtime(image)


def _runtime(image: Image) -> RuntimeImage:
    return RuntimeImage(image.name, image.requirements, RuntimeKind(image.kind))


def _mount(mount: DataMount) -> Mount:
    return Mount(DATA, mount.source, mount.target, mount.read_only, mount.limit_mib)


def _cards(attempt: Attempt) -> list[Placement]:
    pieces = Placement.objects.filter(attempt=attempt, accelerator__isnull=False).select_related("accelerator")
    return list(pieces.order_by("accelerator__index"))


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
