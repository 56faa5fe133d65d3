"""Which of the mounts of a workload its machine copies before it starts, and how long that takes.

What never changes may be copied: its apps name it (`settings.MOUNT_COPIES`). Whether it is, the machine's zone says.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string
from django.utils.translation import gettext as _

from apps.clusters.dataset_caches import NodeCache, cache_mib, cache_of, caching_nodes
from apps.clusters.models import Node
from apps.common.formatting import duration, file_size
from apps.workloads.choices import Status
from apps.workloads.drivers.base import MountCopy
from apps.workloads.models import Attempt, Workload
from apps.workloads.spec import DataMount

NOT_RUNNING_YET = frozenset({Status.QUEUED, Status.PLACED, Status.STARTING})


@dataclass(frozen=True, slots=True)
class CopySource:
    """What is mounted and never changes. `listing`, `digest`: as in `drivers.request.MountCopy`; size in bytes."""

    organisation_id: UUID
    name: str
    listing: str
    digest: str
    size: int
    files: int


CopySources = Callable[[Iterable[DataMount]], Mapping[str, CopySource]]
"""By the mount's source; without what may change, and what cannot be checked yet."""


def copy_sources(mounts: Iterable[DataMount]) -> Mapping[str, CopySource]:
    asked = [mount for mount in mounts if mount.read_only]
    found: dict[str, CopySource] = {}
    for path in settings.MOUNT_COPIES if asked else ():
        sources: CopySources = import_string(path)
        found |= sources(asked)
    return found


def mount_copies(node: Node, mounts: Iterable[DataMount]) -> Mapping[str, MountCopy]:
    """For the launch of a workload on this node, by the mount's source."""
    limit = cache_mib(node) if node.dataset_cache else 0
    if not limit:
        return {}
    return {
        source: MountCopy(each.listing, each.digest, each.name, each.size, each.files, limit)
        for source, each in copy_sources(mounts).items()
    }


@dataclass(frozen=True, slots=True)
class CopyOutlook:
    """What is to be copied at most before a start, in bytes, and for how many seconds; None: nothing was copied yet."""

    size: int
    seconds: float | None


def copy_outlook(sources: Sequence[CopySource], nodes: Sequence[Node]) -> CopyOutlook | None:
    """For a start on whichever of these nodes has the least of it; None where each has all of it."""
    caches = [cache for cache in map(cache_of, nodes) if cache is not None]
    size = max((sum(_missing(sources, cache)) for cache in caches), default=0)
    if not size:
        return None
    speeds = [cache.bytes_per_s for cache in caches if cache.bytes_per_s]
    return CopyOutlook(size, size / min(speeds) if speeds else None)


def _missing(sources: Sequence[CopySource], cache: NodeCache) -> list[int]:
    return [each.size for each in sources if not cache.has(each.organisation_id, each.digest)]


def coming_copy(workload: Workload, attempt: Attempt | None) -> CopyOutlook | None:
    """Before its program exists: what its machine, or any that it may go to, has to copy for it."""
    sources = list(copy_sources(workload.frozen_spec.mounts).values()) if workload.status in NOT_RUNNING_YET else []
    if not sources:
        return None
    if attempt is None or workload.status == Status.QUEUED:  # an attempt of before tells nothing of the next
        nodes = caching_nodes(workload.frozen_spec.zone)
    else:
        nodes = [attempt.node] if cache_mib(attempt.node) else []
    return copy_outlook(sources, nodes)


def outlook_words(outlook: CopyOutlook) -> str:
    size = file_size(outlook.size)
    if outlook.seconds is None:
        return _("copies up to %(size)s of datasets first") % {"size": size}
    words = _("copies up to %(size)s of datasets first, about %(time)s")
    return words % {"size": size, "time": duration(max(1.0, outlook.seconds))}
