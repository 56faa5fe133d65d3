"""What a run on a Kubernetes cluster costs beside a bare pod, and what looking at it costs the API server.

    KUBECONFIG=… python -m benchmarks.kube [--runs 10] [--image plstack.test/python:3] [--json]

All on one cluster and in one run of this module. *Bare*: a pod of one container on one core, created by the API, until
its container runs. *Launched*: the driver's launch of a program on one core until it observes it running, asked every
50 ms. *Burst*: launches of twice as many, one after the other, each on a twentieth of a core, on which its two Pythons
start slowly. *Calls*: requests to the API server while these go on for a minute and are looked at every two seconds,
once as views answer and once without. *Outage*: how long all is known when the API server is not reached, and how soon
again once it is. The nodes have to see this machine's files.
"""

import argparse
import json
import os
import secrets
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import yaml
from kubernetes import client
from kubernetes.client import ApiException

from apps.workloads.drivers.base import CannotSee, Handle, LaunchRequest, Mount, Phase, RuntimeImage
from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster, Place, VolumeSource
from apps.workloads.drivers.kubernetes.driver import KubernetesDriver
from apps.workloads.drivers.request import DATA

UID = 231_000
LOOK_S = 2.0
CORE, SMALL = 1000, 50  # milli-cores
WAITS = "import time; print('ready', flush=True); time.sleep(900)"


class Counted:
    """Requests to the API server. `is_away`: none arrives."""

    def __init__(self, cluster: Cluster) -> None:
        self.count, self.is_away = 0, False
        self._request: Callable[..., Any] = cluster.api.rest_client.request
        cluster.api.rest_client.request = self._counted  # type: ignore[method-assign]

    def _counted(self, *args: Any, **how: Any) -> Any:
        if self.is_away:
            raise ConnectionRefusedError("the API server is away")
        self.count += 1
        return self._request(*args, **how)


def until(look: Callable[[], bool], most_s: float = 120.0, pause_s: float = 0.05) -> float:
    """Seconds until it is so."""
    began = time.monotonic()
    while not look():
        if time.monotonic() - began > most_s:
            raise TimeoutError
        time.sleep(pause_s)
    return time.monotonic() - began


class Bench:
    def __init__(self, cluster: Cluster, node: str, folder: Path) -> None:
        self.cluster, self.node, self.folder, self.tenant = cluster, node, folder, uuid4()
        self.driver = KubernetesDriver(lambda _node: Place(cluster, node), lambda _tenant: UID)

    def request(self, cpu_milli: int = SMALL) -> LaunchRequest:
        mount = Mount(DATA, str(self.folder.relative_to("/")), "/workspace/output", False)
        return LaunchRequest(
            attempt_id=uuid4(), workload_id=uuid4(), tenant_id=self.tenant, node=self.node, image=RuntimeImage("plain"),
            argv=("python3", "-c", WAITS), env={}, mounts=(mount,), workdir="/workspace/output", cpu_milli=cpu_milli,
            memory_mib=64,
        )  # fmt: skip

    def is_running(self, handle: Handle) -> bool:
        with suppress(CannotSee):
            return self.driver.observe(handle).phase is Phase.RUNNING
        return False

    def launched_s(self) -> tuple[float, Handle]:
        began = time.monotonic()
        handle = self.driver.launch(self.request(CORE))
        until(lambda: self.is_running(handle))
        return time.monotonic() - began, handle

    def bare_s(self) -> float:
        space, name = names.namespace(self.cluster, self.tenant), f"bare-{uuid4().hex[:8]}"
        closed = client.V1SecurityContext(
            allow_privilege_escalation=False, capabilities=client.V1Capabilities(drop=["ALL"])
        )
        size = {"cpu": f"{CORE}m", "memory": "64Mi"}
        container = client.V1Container(
            name="bare",
            image=self.cluster.image,
            command=["python3", "-c", WAITS],
            security_context=closed,
            resources=client.V1ResourceRequirements(requests=size, limits=size),
        )
        pod = client.V1PodSecurityContext(
            run_as_non_root=True, run_as_user=UID, seccomp_profile=client.V1SeccompProfile(type="RuntimeDefault")
        )
        spec = client.V1PodSpec(containers=[container], node_selector={"kubernetes.io/hostname": self.node})
        spec.security_context, spec.termination_grace_period_seconds = pod, 0
        began = time.monotonic()
        body = client.V1Pod(metadata=client.V1ObjectMeta(name=name), spec=spec)
        self.cluster.core.create_namespaced_pod(space, body)
        read: Callable[..., Any] = self.cluster.core.read_namespaced_pod
        until(lambda: bool(read(name, space).status.phase == "Running"))
        took = time.monotonic() - began
        self.cluster.core.delete_namespaced_pod(name, space)
        return took

    def burst(self, count: int) -> tuple[list[Handle], float, float]:
        """That many, one launch after the other; seconds until all are accepted, and until all run."""
        began = time.monotonic()
        handles = [self.driver.launch(self.request()) for _ in range(count)]
        accepted = time.monotonic() - began
        until(lambda: all(self.is_running(each) for each in handles), 300)
        return handles, accepted, time.monotonic() - began

    def remove(self, handles: list[Handle]) -> None:
        for handle in handles:
            pod = self.driver._pods.find(self.cluster, handle.ref)
            if pod is not None:
                self.driver._pods.remove(self.cluster, pod)

    def calls(self, counted: Counted, handles: list[Handle], seconds: float) -> float:
        """Calls a minute while all are looked at."""
        before, began = counted.count, time.monotonic()
        while time.monotonic() - began < seconds:
            turn = time.monotonic()
            for handle in handles:
                self.is_running(handle)
            time.sleep(max(0.0, LOOK_S - (time.monotonic() - turn)))
        return (counted.count - before) * 60 / (time.monotonic() - began)


@contextmanager
def connected(image: str) -> Iterator[tuple[Cluster, str]]:
    with tempfile.TemporaryDirectory() as own:
        config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
        where = VolumeSource({"hostPath": {"path": "/"}}, own.lstrip("/"), Path("/"))
        cluster = Cluster(uuid4().hex, config, image, {DATA: where}, secrets.token_bytes(32))
        Path(own).chmod(0o711)
        yield cluster, min(_names(cluster.core.list_node().items))
        chosen = names.selector({names.PLATFORM: names.short(cluster.platform)})
        for space in _names(cluster.core.list_namespace(label_selector=chosen).items):
            with suppress(ApiException):
                cluster.core.delete_namespace(space)
        for volume in _names(cluster.core.list_persistent_volume(label_selector=chosen).items):
            with suppress(ApiException):
                cluster.core.delete_persistent_volume(volume)


def _names(items: Sequence[Any]) -> list[str]:
    return [str(each.metadata.name) for each in items]


def measure(cluster: Cluster, node: str, folder: Path, runs: int) -> dict[str, Any]:
    bench = Bench(cluster, node, folder)
    bench.remove([bench.launched_s()[1]])  # makes the namespace
    launched, bare = [], []
    for _ in range(runs):
        bare.append(bench.bare_s())
        took, handle = bench.launched_s()
        launched.append(took)
        bench.remove([handle])
    handles, accepted, burst_s = bench.burst(2 * runs)
    counted = Counted(cluster)
    with_views = bench.calls(counted, handles, 60)
    away_s, back_s = outage(bench, counted, handles)
    bench.driver._pods.views.pod = lambda *_args: None  # type: ignore[method-assign]
    bench.driver._pods.views.close()
    without = bench.calls(counted, handles, 20)
    bench.remove(handles)
    return {
        "runs": runs,
        "bare_s": _median(bare),
        "launched_s": _median(launched),
        "ratio": round(statistics.median(launched) / statistics.median(bare), 2),
        "burst_accepted_s": round(accepted, 1),
        "burst_running_s": round(burst_s, 1),
        "looked_at": len(handles),
        "calls_a_minute": round(with_views),
        "calls_a_minute_without_views": round(without),
        "still_known_in_an_outage_s": away_s,
        "seen_again_after_s": back_s,
    }


def outage(bench: Bench, counted: Counted, handles: list[Handle]) -> tuple[float, float]:
    """How long it is known without the API server that all run, and how soon after its return it is again."""
    counted.is_away = True
    known = until(lambda: not all(bench.is_running(each) for each in handles), 60)
    counted.is_away = False
    back = until(lambda: all(bench.is_running(each) for each in handles), 60)
    return round(known, 1), round(back, 1)


def _median(found: list[float]) -> float:
    return round(statistics.median(found), 2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--image", default="plstack.test/python:3")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with connected(asked.image) as (cluster, node), tempfile.TemporaryDirectory() as folder:
        os.chown(folder, UID, UID)
        result = measure(cluster, node, Path(folder), asked.runs)
    for name, value in result.items():
        print(f"{name:32} {value}")
    if asked.json:
        print(json.dumps(result))


if __name__ == "__main__":
    main()
