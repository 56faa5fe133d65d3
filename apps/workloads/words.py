"""What drivers say, in the reader's language. Drivers know no translation: they import no Django and say codes.

A code without words here is shown in its English, and foreign text as it came: that of an installer or of the kernel,
and what was stored before there were codes.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from apps.common.formatting import file_size, memory
from apps.workloads.drivers.said import Code, Said, load

_SENTENCES: Mapping[Code, str] = {
    Code.WAITING_FOR_INSTALLATION: gettext_noop("Waiting for another installation of %(name)s"),
    Code.CREATING_ENVIRONMENT: gettext_noop("Creating the Python environment of %(name)s"),
    Code.DOWNLOADING: gettext_noop("Downloading %(name)s (%(size)s)"),
    Code.INSTALLING: gettext_noop("Installing %(count)s packages"),
    Code.BUILDING_PACKAGE: gettext_noop("Downloading and building: %(name)s"),
    Code.BUILDING_IMAGE: gettext_noop("Downloading and building %(name)s; this takes some minutes"),
    Code.BUILD_TOOLS_MISSING: gettext_noop(
        "To build %(name)s, this machine lacks some of Debian's packages: %(packages)s. "
        "Its administrator can install them with apt-get install."
    ),
    Code.COLLECTING: gettext_noop("Looking for %(name)s"),
    Code.BUBBLEWRAP_USER_IDS: gettext_noop("Isolated by bubblewrap, with a user id of its own for each organisation."),
    Code.BUBBLEWRAP_NAMESPACES: gettext_noop("Isolated by bubblewrap in user namespaces."),
    Code.BUBBLEWRAP_MISSING: gettext_noop("bubblewrap (bwrap) is not installed."),
    Code.JOINING_NEEDS_ROOT: gettext_noop("Gang networks need an agent that runs as root with bubblewrap."),
    Code.IPROUTE_MISSING: gettext_noop("iproute2 (ip and bridge) or util-linux (nsenter, unshare) is not installed."),
    Code.VXLAN_MISSING: gettext_noop("The kernel has no VXLAN."),
    Code.WIREGUARD_MISSING: gettext_noop("The kernel has no WireGuard."),
    Code.OWN_ADDRESS_UNKNOWN: gettext_noop("The node's own address is not known: join it with --network-address."),
    Code.SOURCE_ANSWERS: gettext_noop("%(url)s answers %(status)s."),
    Code.SOURCE_UNREACHABLE: gettext_noop("%(url)s is not reached: %(error)s"),
    Code.SOURCE_REFUSED_INSIDE: gettext_noop("Programs in sandboxes do not get to %(host)s: %(answer)s"),
    Code.POD_SECURITY_RESTRICTED: gettext_noop(
        "Pods of restricted security, with a namespace of its own for each organisation."
    ),
    Code.NO_BUILDS: gettext_noop("Images are not built on clusters: choose a node that has joined."),
    Code.POD_TAKEN_AWAY: gettext_noop("The cluster ended its pod: it was deleted, or its node went down."),
    Code.POD_EVICTED: gettext_noop("The node %(node)s evicted its pod: %(error)s"),
    Code.POD_PREEMPTED: gettext_noop(
        "The cluster took its pod off %(node)s to make room for other work of the cluster."
    ),
    Code.POD_DRAINED: gettext_noop("The cluster's operators emptied the node %(node)s."),
    Code.POD_NODE_LOST: gettext_noop("The node %(node)s stopped answering its cluster."),
    Code.POD_EVICTED_MEMORY: gettext_noop("The node %(node)s ran low on memory and evicted its pod."),
    Code.POD_EVICTED_DISK: gettext_noop("The node %(node)s ran low on disk and evicted its pod."),
    Code.POD_GONE: gettext_noop("Its pod is gone and left no record of an end."),
    Code.POD_REFUSED_BY_NODE: gettext_noop("The node %(node)s did not take its pod: %(error)s"),
    Code.IMAGE_NOT_PULLED: gettext_noop("The node %(node)s cannot fetch %(image)s: %(error)s"),
    Code.IMAGE_REGISTRY_AWAY: gettext_noop("The node %(node)s does not reach the registry of %(image)s: %(error)s"),
    Code.IMAGE_DENIED: gettext_noop("The registry does not give %(image)s to the node %(node)s: %(error)s"),
    Code.IMAGE_ABSENT: gettext_noop("The registry has no image %(image)s: %(error)s"),
    Code.CONTAINER_NOT_CREATED: gettext_noop("The node %(node)s cannot create its container: %(error)s"),
    Code.CLUSTER_UNREACHABLE: gettext_noop("The cluster does not answer (%(error)s)."),
    Code.CLUSTER_REFUSES: gettext_noop("The cluster refuses (%(status)s): %(error)s"),
    Code.CLUSTER_UNREADABLE: gettext_noop("The cluster's configuration cannot be used: %(error)s"),
    Code.POD_STARTING: gettext_noop("The pod is being started"),
    Code.POD_NOT_PLACED: gettext_noop("The cluster has not let the pod onto its node yet: %(error)s"),
    Code.PULLING_IMAGE: gettext_noop("The node fetches %(image)s"),
    Code.ISOLATION_OFF: gettext_noop("Isolation is switched off by the operator."),
    Code.FILES_READABLE: gettext_noop("Workloads run as the platform's own user and can read its files."),
    Code.TOO_MANY_OPEN: gettext_noop("Too many terminals and commands are open in it: at most %(count)s at a time."),
    Code.NO_LIMITER: gettext_noop("Nothing on its machine limits the memory of a vGPU slice, so it was not given out."),
    Code.NO_RDMA: gettext_noop("Its machine has no InfiniBand adapter that work can use."),
    Code.RDMA_DOWN: gettext_noop("No InfiniBand link of its machine was up any more."),
    Code.RDMA_NODE_MISSING: gettext_noop("The device node %(path)s of an InfiniBand adapter is missing."),
    Code.PARTITION_TAKEN: gettext_noop(
        "The card has a partition at memory slice %(start)s that the platform did not make. "
        "An administrator can remove it with nvidia-smi mig -dci and -dgi."
    ),
    Code.NO_SUCH_PARTITION: gettext_noop("The card offers no partition %(profile)s at memory slice %(start)s."),
    Code.NO_MIG: gettext_noop("This card knows no MIG."),
    Code.CARD_IN_USE: gettext_noop(
        "A process still uses the card, or there are partitions on it that the platform did not make."
    ),
    Code.RESET_NEEDED: gettext_noop(
        "The card takes the mode with its next reset: reset it or restart the machine, then repeat."
    ),
    Code.MAY_NOT_SWITCH: gettext_noop(
        "The platform may not switch or cut cards on that machine: it has to run as root there."
    ),
    Code.MAY_NOT_CUT: gettext_noop(
        "The platform may not switch or cut cards on that machine: it has to run as root there."
    ),
    Code.NO_NVIDIA_DRIVER: gettext_noop("There is no NVIDIA driver on that machine."),
    Code.DISK_EXCEEDED: gettext_noop("Its files in %(place)s take more than the %(limit)s that it may hold there."),
    Code.FILE_TOO_LARGE: gettext_noop("It wrote a file larger than the %(limit)s that it may hold."),
    Code.TOO_MANY_FILES: gettext_noop("It holds more than the %(count)s files and folders that it may."),
    Code.FOLDERS_TOO_DEEP: gettext_noop("Its folders are nested more than %(count)s deep."),
    Code.DISK_FULL: gettext_noop("The disk of its machine was full; this run was using most of it."),
    Code.DISK_FULL_OF_FILES: gettext_noop(
        "The disk of its machine had no room for further files; this run held most of them."
    ),
    Code.WAITING_FOR_MEMBERS: gettext_noop("Waiting until the other members are ready"),
    Code.COPYING: gettext_noop("Copying the checkpoint"),
    Code.COPY_MISSING: gettext_noop("The checkpoint that it should go on from is not there any more."),
    Code.NO_ROOM_FOR_COPY: gettext_noop("The disk had no room for a copy of the checkpoint, which is unchanged."),
    Code.WAITING_FOR_COPY: gettext_noop("Waiting for another start that copies dataset %(name)s to the machine"),
    Code.WAITING_FOR_STORAGE: gettext_noop(
        "The storage does not answer; dataset %(name)s is copied on as soon as it does"
    ),
    Code.COPYING_DATASET: gettext_noop("Copying dataset %(name)s (%(size)s) to the machine"),
    Code.MOUNTED_IN_PLACE: gettext_noop(
        "The machine's cache has no room for dataset %(name)s, so it is read from the storage"
    ),
    Code.DATASET_MISSING: gettext_noop("The files of dataset %(name)s are not in the storage any more."),
    Code.DATASET_DAMAGED: gettext_noop(
        "Dataset %(name)s is damaged: %(path)s is not what was stored. Make a new version of it from good files."
    ),
    Code.DATASET_NOT_COPIED: gettext_noop("Dataset %(name)s could not be copied to the machine: %(error)s"),
    Code.NO_ROOM_FOR_DATASET: gettext_noop("The machine's disk has no room for dataset %(name)s (%(size)s)."),
    Code.NO_GANGS: gettext_noop("Its machine does not run programs that start together."),
    Code.GANG_OVER_MACHINES: gettext_noop("Its members are on different machines, which nothing joins."),
    Code.NO_GANG_NETWORK: gettext_noop("The network of its members could not be made: %(error)s"),
    Code.NO_NODE_IN_IMAGE: gettext_noop("%(name)s does not run beside a container image."),
    Code.NO_REFERENCES: gettext_noop("Its machine runs no container images, so %(image)s cannot be started there."),
    Code.IMAGE_NEEDS_ISOLATION: gettext_noop(
        "Container images run on machines that isolate (level L1) alone, so %(image)s cannot be started there."
    ),
    Code.WAITING_FOR_PULL: gettext_noop("Waiting for another start that fetches %(image)s"),
    Code.PULLING: gettext_noop("Fetching %(image)s (%(size)s)"),
    Code.UNPACKING: gettext_noop("Unpacking layer %(number)s of %(count)s of %(image)s"),
    Code.REGISTRY_UNREACHABLE: gettext_noop("The registry %(host)s is not reached: %(error)s"),
    Code.REGISTRY_REFUSES: gettext_noop(
        "The registry %(host)s answers %(status)s and does not give out %(image)s. Its administrator can allow it."
    ),
    Code.IMAGE_NOT_THERE: gettext_noop("There is no image %(image)s in its registry."),
    Code.IMAGE_DAMAGED: gettext_noop(
        "What the registry sent of %(image)s is not what its digest says, so it was thrown away."
    ),
    Code.IMAGE_UNREADABLE: gettext_noop("%(image)s is not a container image that can be read: %(error)s"),
    Code.IMAGE_OTHER_MACHINE: gettext_noop("%(image)s is for %(offered)s, and the machine is %(wanted)s."),
    Code.IMAGE_TOO_MANY_LAYERS: gettext_noop("%(image)s has %(count)s layers; %(most)s are allowed."),
    Code.IMAGE_TOO_LARGE: gettext_noop("%(image)s takes more on disk than the %(limit)s that are allowed."),
    Code.IMAGE_TOO_MANY_FILES: gettext_noop("%(image)s has more than the %(count)s files that are allowed."),
    Code.IMAGE_HOSTILE: gettext_noop(
        "%(image)s has something in a layer that no image needs, and was not unpacked: %(what)s"
    ),
    Code.IMAGE_NEEDS_ZSTD: gettext_noop(
        "%(image)s is packed with zstd. Its machine lacks that program: an administrator can install it."
    ),
    Code.IMAGE_NO_ROOM: gettext_noop("The disk of the machine has no room for %(image)s."),
    Code.PULL_FAILED: gettext_noop("%(image)s could not be fetched: %(error)s"),
    Code.NOT_IN_IMAGE: gettext_noop("There is no program %(program)s in %(image)s."),
    Code.NO_SHELL_IN_IMAGE: gettext_noop(
        "There is no shell (%(program)s) in %(image)s. Choose an image that has one, or a command that needs none."
    ),
    Code.MOUNT_THROUGH_IMAGE: gettext_noop(
        "In the image, %(target)s is a link or a file, so nothing can be mounted there."
    ),
    Code.ROOT_NOT_KEPT: gettext_noop("Its machine keeps nothing of what is changed in its image."),
    Code.BASE_NOT_KEPT: gettext_noop(
        "%(image)s was fetched before its machine kept what is needed to save images. An administrator can remove it "
        "from the machine's cache, so that it is fetched anew."
    ),
    Code.NOTHING_CHANGED: gettext_noop("Nothing was changed in its image yet."),
    Code.FILE_NOT_SAVED: gettext_noop("%(path)s cannot be part of an image, or was being written. Try it again."),
    Code.CHANGES_TOO_LARGE: gettext_noop(
        "What was changed in its image is more than %(limit_mib)s MiB. Keep large files in the home folder or a volume."
    ),
    Code.PUSHING: gettext_noop("Sending the image to the registry %(host)s (%(size)s)"),
    Code.PUSH_REFUSED: gettext_noop("The registry %(host)s answers %(status)s and does not take the image: %(error)s"),
    Code.PUSH_FAILED: gettext_noop("The image could not be sent to the registry %(host)s: %(error)s"),
    Code.IMAGE_ROOT_FAILED: gettext_noop("The image's files could not be mounted: %(error)s"),
    Code.WITHHELD: gettext_noop("The secret %(name)s is gone, cannot be read, or may not be used any more."),
    Code.BAD_PLACE: gettext_noop("The secret %(name)s cannot be given to the program as it is asked for."),
    Code.NOT_RUNNING: gettext_noop("It is not running any more."),
    Code.KILLED_AFTER_GRACE: gettext_noop("It did not end in time and was killed."),
}
_BY_GROUPS = gettext_noop("Memory is limited by control groups")
_WATCHED = gettext_noop("Memory is limited by watching it")
_CPU_TOO, _CPU_NOT = gettext_noop(", processor time too."), gettext_noop("; processor time is not limited.")
_LIMITS: Mapping[Code, tuple[str, str]] = {
    Code.LIMITED_BY_GROUPS: (_BY_GROUPS, _CPU_TOO),
    Code.MEMORY_BY_GROUPS: (_BY_GROUPS, _CPU_NOT),
    Code.MEMORY_WATCHED: (_WATCHED, _CPU_NOT),
}


def sentence(said: Said) -> str:
    """In the active language; names and numbers stay."""
    if said.code is Code.BUBBLEWRAP_FAILS:
        return f"{_('bubblewrap does not work here:')} {said.params['error']}."
    if said.code in _LIMITS:
        return "".join(_(clause) for clause in _LIMITS[said.code])
    words = _SENTENCES.get(said.code)
    return str(said) if words is None else _(words) % _shown(said.params)


def _shown(params: Mapping[str, Any]) -> dict[str, Any]:
    limit, size = params.get("limit_mib"), params.get("size_bytes")
    shown = {"limit": memory(limit)} if isinstance(limit, int) else {}
    return {**params, **shown, **({"size": file_size(size)} if isinstance(size, int) else {})}


def sentences(several: Sequence[Said]) -> str:
    return " ".join(map(sentence, several))


def recorded(data: Mapping[str, Any]) -> str:
    """What a driver said of a progress or an end, as `reconcile.outcome` writes it into the rows; "" for nothing."""
    if data.get("said"):
        return sentence(Said.from_json(data["said"]))
    return str(data.get("detail") or data.get("text") or "")


def copied_so_far(progress: Mapping[str, Any]) -> str:
    """`1.2 GB of 4 GB` instead of a percentage, where a dataset is copied; "" for any other progress."""
    said, fraction = Said.from_json(progress.get("said") or ""), progress.get("fraction")
    if said.code is not Code.COPYING_DATASET or fraction is None:
        return ""
    size = int(said.params["size_bytes"])
    return _("Copying dataset %(name)s: %(done)s of %(size)s") % {
        "name": said.params["name"], "done": file_size(round(size * fraction)), "size": file_size(size)
    }  # fmt: skip


def isolation_words(column: str) -> str:
    """The column `Node.isolation_reason`, as `said.dump` writes it."""
    return sentences(load(column))


_REMEDIES: Mapping[Code, str] = dict.fromkeys(
    (Code.BUBBLEWRAP_MISSING, Code.BUBBLEWRAP_FAILS),
    gettext_noop(
        "Ask the platform's administrators: installing bubblewrap isolates workloads; "
        "PLSTACK_ALLOW_SHARED_L0=1 accepts the risk."
    ),
)


def isolation_remedy(columns: Sequence[str]) -> str:
    """What an administrator can do where machines cannot keep organisations apart, by what their drivers say of it."""
    said = (one.code for column in columns for one in load(column))
    known = next((_REMEDIES[code] for code in said if code in _REMEDIES), None)
    return _(known) if known else _("Ask the platform's administrators: PLSTACK_ALLOW_SHARED_L0=1 accepts the risk.")
