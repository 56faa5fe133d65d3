"""The Kubernetes driver: each attempt, or member of a gang, is a pod of its own that is placed by us alone."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar
from uuid import UUID

from apps.workloads.drivers.base import (
    DriverError,
    Exit,
    ExitReason,
    Handle,
    Isolation,
    IsolationLevel,
    LaunchRefused,
    LaunchRequest,
    LogChunk,
    Observation,
    Phase,
    Reference,
    Usage,
)
from apps.workloads.drivers.capabilities import FoundNode, Notice
from apps.workloads.drivers.channel.client import ChannelGone, Client
from apps.workloads.drivers.channel.forwarding import Forwards
from apps.workloads.drivers.errors import CannotSee, now_or_later
from apps.workloads.drivers.kubernetes import inspection
from apps.workloads.drivers.kubernetes.causes import Verdict, cause_of_end, verdict
from apps.workloads.drivers.kubernetes.cluster import Cluster, Place, asking
from apps.workloads.drivers.kubernetes.doctor.examining import Report, examine
from apps.workloads.drivers.kubernetes.doctor.findings import Finding
from apps.workloads.drivers.kubernetes.journal import Journals, StoredRun
from apps.workloads.drivers.kubernetes.launching import launch
from apps.workloads.drivers.kubernetes.lost_nodes import LostNodes
from apps.workloads.drivers.kubernetes.observing import Pod
from apps.workloads.drivers.kubernetes.pods import Pods
from apps.workloads.drivers.kubernetes.views import Changed
from apps.workloads.drivers.local.checks import check
from apps.workloads.drivers.said import Code, Said
from apps.workloads.drivers.sockets import Endpoint
from apps.workloads.drivers.streams import ExecStream

NAME = "kubernetes"
T = TypeVar("T")


class KubernetesDriver(LostNodes):
    """Implements `Driver` and the mixins of metrics, isolation, cleanup, inventory, gangs, notices, answers, fences.

    `lookup`: the place in a cluster of the node of this name; raises CannotSee for one that is not known. `uid_of`: the
    tenant's user id, wherever files are shared. `changed`: is told at once whose pods have changed, by a thread that
    must not be held up. `journals_root`: where the journals of all clusters are, by which attempts are fenced.
    """

    name = NAME

    def __init__(
        self,
        lookup: Callable[[str], Place],
        uid_of: Callable[[UUID], int],
        changed: Changed = lambda _refs: None,
        journals_root: Callable[[], Path | None] = lambda: None,
    ) -> None:
        self._lookup = lookup
        self._journals_root = journals_root
        self._uid_of = uid_of
        self._pods = Pods(changed)
        self._journals = Journals()
        self._forwards = Forwards()

    def launch(self, request: LaunchRequest) -> Handle:
        check(request, joins_machines=True)
        if isinstance(request.image, Reference) and not request.argv:
            raise LaunchRefused("no_command", Said(Code.NO_COMMAND))
        if request.stages or request.builds:  # they change their image as its root would, which no pod of ours may
            raise LaunchRefused("builds_unsupported", Said(Code.NO_BUILDS))
        place = self._lookup(request.node)
        ref = str(request.attempt_id)
        with asking(), now_or_later():
            launch(place, request, self._uid_of(request.tenant_id), self._journals)
        return Handle(NAME, request.node, ref)

    def observe(self, handle: Handle) -> Observation:
        cluster, run = self._run(handle)
        with now_or_later():
            if run.is_settled:
                return run.observe()
        self._pods.views.of(cluster).pods.keep()
        pod = self._pods.views.pod(cluster, handle.ref)
        if pod is None or pod.may_have_ended or run.has_ended():  # of an end, and of nothing at all, the API is asked
            pod = self._pods.find(cluster, handle.ref)
        if pod is None:
            return self._gone(run)
        return self._settled(cluster, run, pod) if run.has_ended() else self._seen(cluster, run, pod)

    def _gone(self, run: StoredRun) -> Observation:
        """The API says so. A record may have been written just before; an API restored from a backup forgot it."""
        with now_or_later():
            has_ended = run.has_ended()
        still = None if has_ended else self._pods.ask_last_known(run.ref)
        if still is not None and not still.phase.is_final:
            return still
        with now_or_later():
            if not run.has_ended():
                run.lose(Said(Code.POD_GONE))
            run.settle()
            return run.observe()

    def _settled(self, cluster: Cluster, run: StoredRun, pod: Pod) -> Observation:
        """The record says how it ended; what only the cluster knows of that is added, and nothing is left there."""
        with now_or_later():
            if run.may_be_out_of_memory() and not pod.program_has_ended:
                raise CannotSee(Said(Code.ENDING))
            if pod.out_of_memory:
                run.blame_memory()
            cause = cause_of_end(pod)
            if cause is not None:
                run.blame_cluster(cause)
        with asking():
            self._pods.remove(cluster, pod)
        with now_or_later():
            run.settle()
            return run.observe()

    def _seen(self, cluster: Cluster, run: StoredRun, pod: Pod) -> Observation:
        never = verdict(pod)
        if never is not None:
            return self._never(cluster, run, pod, never)
        if pod.shim_has_ended:  # after it wrote its record, if it could
            with now_or_later():
                if not run.has_ended():
                    run.lose(Said(Code.SHIM_KILLED))
            return self._settled(cluster, run, pod)
        waits = Observation(Phase.IMAGE, progress=pod.progress)
        seen = self._through(cluster, run, pod, lambda client: client.observe(), lambda: waits)
        if seen.exit is not None or run.has_ended():
            return self._settled(cluster, run, pod)
        return waits if seen.phase is Phase.IMAGE and seen.progress is None else seen

    def _never(self, cluster: Cluster, run: StoredRun, pod: Pod, never: Verdict) -> Observation:
        """The image is not there, or the node did not take it: the shim, where there is one, is told to end."""
        if pod.shim_runs and run.has_begun:
            self._client(cluster, run, pod).fail(never.said)
            return Observation(Phase.IMAGE, progress=pod.progress)
        with now_or_later():
            run.write(Observation(Phase.EXITED, exit=Exit(None, None, never.reason, never.said)))
        return self._settled(cluster, run, pod)

    def stop(self, handle: Handle, grace_s: float) -> None:
        """By the journal, where it lasts; and to the shim, which may not see at once what was written elsewhere."""
        cluster, run = self._run(handle)
        with now_or_later():
            if run.has_ended():
                return
            run.ask_to_stop(grace_s)
        pod = self._pods.find(cluster, handle.ref)
        if pod is None or pod.shim_has_ended:
            return
        if run.has_begun:
            self._through(cluster, run, pod, lambda client: client.stop(grace_s), lambda: None)
            return
        with asking():  # before the record: a shim that begins just now finds the order to stop
            self._pods.delete(cluster, pod, grace_s=0)
        with now_or_later():
            run.write(Observation(Phase.EXITED, exit=Exit(None, None, ExitReason.STOPPED)))

    def release(self, handle: Handle) -> None:
        cluster, run = self._run(handle)
        pod = self._pods.find(cluster, handle.ref)
        if pod is None or not pod.shim_runs:
            return
        members = self._pods.gang(cluster, pod)
        if [each.rank for each in members] != list(range(len(members))) or not all(m.address for m in members):
            raise CannotSee(Said(Code.POD_STARTING))
        addresses = [each.address for each in members]
        self._through(cluster, run, pod, lambda client: client.begin(addresses), lambda: None)

    def tell(self, handle: Handle, notice: Notice | None) -> None:
        cluster, run = self._run(handle)
        pod = self._pods.see(cluster, handle.ref)
        if pod is not None:
            self._through(cluster, run, pod, lambda client: client.tell(notice), lambda: None)

    def logs(self, handle: Handle, offset: int = 0, limit: int = 65536) -> LogChunk:
        cluster, run = self._run(handle)
        with now_or_later():
            if run.has_ended():
                return run.logs(offset, limit)
        pod = self._pods.see(cluster, handle.ref)
        by_record = partial(run.logs, offset, limit)
        return self._through(cluster, run, pod, lambda client: client.logs(offset, limit), by_record)

    def metrics(self, handle: Handle, since_s: float = 0.0) -> list[Usage]:
        cluster, run = self._run(handle)
        with now_or_later():
            if run.has_ended():
                return run.metrics(since_s)
        pod = self._pods.see(cluster, handle.ref)
        return self._through(cluster, run, pod, lambda client: client.metrics(since_s), partial(run.metrics, since_s))

    def exec(
        self, handle: Handle, argv: Sequence[str], tty: bool = False, env: Mapping[str, str] | None = None
    ) -> ExecStream:
        cluster, run = self._run(handle)
        pod = self._pods.see(cluster, handle.ref)

        def refuse() -> ExecStream:
            raise DriverError(Said(Code.NOT_RUNNING))

        return self._through(cluster, run, pod, lambda client: client.exec(argv, tty, env or {}), refuse)

    def endpoint(self, handle: Handle, port: int) -> Endpoint:
        """By the shim's channel, straight to the pod: the API server carries none of it."""
        cluster, run = self._run(handle)
        pod = self._pods.see(cluster, handle.ref)
        if not self._through(cluster, run, pod, lambda client: client.listens(port), lambda: False):
            raise DriverError(Said(Code.NOT_LISTENING, {"port": port}))
        client = self._client(cluster, run, pod)
        path = self._forwards.path(f"{handle.ref}-{port}", lambda: client.connect(port))
        return Endpoint(socket_path=str(path))

    def has_reference(self, image: Reference) -> bool:
        """Each node has its own, and none is asked: a start may have to fetch it."""
        return False

    def forget(self, handle: Handle) -> None:
        cluster, run = self._run(handle)
        if run.exists and not self.observe(handle).phase.is_final:
            raise DriverError(Said(Code.NOT_ENDED))
        pod = self._pods.find(cluster, handle.ref)
        if pod is not None:
            with asking():
                self._pods.remove(cluster, pod)
        with now_or_later():
            run.remove()

    def known(self, node: str) -> list[str]:
        """Of the whole cluster: where one is stands in its row."""
        cluster = self._lookup(node).cluster
        with now_or_later():
            return self._journals.refs(cluster)

    def inspect(self, cluster: Cluster) -> inspection.Facts:
        """What the cluster is, before it is a zone. Raises CannotSee."""
        with asking(), now_or_later():
            return inspection.inspect(cluster)

    def examine(
        self, cluster: Cluster, registry: str, report: Report, wanted: Collection[str] = ()
    ) -> Iterator[Finding]:
        """What it has, lacks and really does; see `doctor.examining`. Takes up to some minutes."""
        return examine(cluster, registry, report, wanted)

    def nodes_of(self, cluster: Cluster) -> list[FoundNode]:
        """Its machines that take work. Raises CannotSee."""
        view = self._pods.views.of(cluster)
        view.keep()
        with now_or_later(), asking():
            return view.machines()

    def isolation(self, node: str) -> Isolation:
        return Isolation(IsolationLevel.L1, (Said(Code.POD_SECURITY_RESTRICTED),))

    def _through(
        self,
        cluster: Cluster,
        run: StoredRun,
        pod: Pod | None,
        ask: Callable[[Client], T],
        by_record: Callable[[], T],
    ) -> T:
        """What the shim answers while it is there; else, and should it end just now, what its record says."""
        with now_or_later():
            if pod is None or not pod.shim_runs or not run.has_begun or run.has_ended():
                return by_record()
        try:
            return ask(self._client(cluster, run, pod))
        except ChannelGone:
            if not run.has_ended():
                raise
        with now_or_later():
            return by_record()

    def _client(self, cluster: Cluster, run: StoredRun, pod: Pod | None) -> Client:
        return self._pods.client(cluster, run.ref, pod)

    def _run(self, handle: Handle) -> tuple[Cluster, StoredRun]:
        if not _is_uuid(handle.ref):
            raise DriverError(Said(Code.NOT_OURS, {"ref": handle.ref}))
        cluster = self._lookup(handle.node).cluster
        return cluster, self._journals.run(cluster, handle.ref)


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
