"""The probe: a pod that answers for a few minutes what its node is like, and tries a connection when it is told to."""

from dataclasses import dataclass

from kubernetes import client

from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes.cluster import Cluster
from apps.workloads.drivers.kubernetes.manifest import on_node, unprivileged
from apps.workloads.drivers.kubernetes.pod import places

ALLOWED, CLOSED = places.PORT, places.PORT + 1
"""What the organisation's network policy lets in, as shims need it, and what it does not."""
UID = 65_532
LIVES_S = 240
LABEL = "plstack.io/probe"

# Answers whoever knows the word: one line of JSON for one line of JSON.
SOURCE = r"""
import json, os, socket, sys, threading, time
word, folder, allowed, closed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
def written():
    try:
        with open(os.path.join(folder, word[:12] + '-' + socket.gethostname()), 'w') as file:
            file.write(word[:12])
        return ''
    except OSError as error:
        return str(error)
files = written()
def reaches(host, port):
    try:
        socket.create_connection((host, port), 2).close()
        return True
    except OSError:
        return False
def answer(stream):
    with stream:
        stream.settimeout(5)
        asked = json.loads(stream.makefile().readline() or '{}')
        if asked.get('word') != word:
            return
        told = {'time': time.time(), 'files': files, 'kernel': os.uname().release,
                'uids': open('/proc/self/uid_map').read().split()[:3]}
        if asked.get('call'):
            told['reached'] = reaches(*asked['call'])
        stream.sendall(json.dumps(told).encode() + b'\n')
def serve(port):
    with socket.create_server(('', port)) as server:
        while True:
            threading.Thread(target=answer, args=(server.accept()[0],), daemon=True).start()
for port in (allowed, closed):
    threading.Thread(target=serve, args=(port,), daemon=True).start()
time.sleep(600)
"""


@dataclass(frozen=True, slots=True)
class Probe:
    """`subfolder`: of the platform's files, in which it writes a word. `own_users`: in a user namespace of its own."""

    name: str
    node: str
    subfolder: str
    own_users: bool = False


def manifest(cluster: Cluster, probe: Probe, word: str, labels: dict[str, str]) -> client.V1Pod:
    """As restricted as the pods of runs."""
    container = client.V1Container(
        name="probe",
        image=cluster.image,
        image_pull_policy=cluster.pull_policy,
        command=["python3", "-I", "-S", "-u", "-c", SOURCE, word, "/files", str(ALLOWED), str(CLOSED)],
        security_context=unprivileged(),
        resources=client.V1ResourceRequirements(
            requests={"cpu": "10m", "memory": "32Mi"}, limits={"cpu": "200m", "memory": "96Mi"}
        ),
        volume_mounts=[client.V1VolumeMount(name="files", mount_path="/files", sub_path=probe.subfolder)],
    )
    claim = client.V1PersistentVolumeClaimVolumeSource(claim_name=names.CLAIM)
    spec = client.V1PodSpec(
        restart_policy="Never",
        automount_service_account_token=False,
        enable_service_links=False,
        host_users=False if probe.own_users else None,
        termination_grace_period_seconds=0,
        active_deadline_seconds=LIVES_S,
        affinity=client.V1Affinity(node_affinity=on_node(probe.node)),
        tolerations=[client.V1Toleration(operator="Exists", effect="NoSchedule")],
        security_context=client.V1PodSecurityContext(
            run_as_non_root=True, run_as_user=UID, run_as_group=UID,
            seccomp_profile=client.V1SeccompProfile(type="RuntimeDefault"),
        ),
        containers=[container],
        volumes=[client.V1Volume(name="files", persistent_volume_claim=claim)],
    )  # fmt: skip
    meta = client.V1ObjectMeta(name=probe.name, labels=labels | {LABEL: "yes"})
    return client.V1Pod(api_version="v1", kind="Pod", metadata=meta, spec=spec)


def puller(cluster: Cluster, name: str, node: str, registry: str, labels: dict[str, str]) -> client.V1Pod:
    """Asks the registry for an image that is not there: what the node is told proves that it was reached."""
    pod = manifest(cluster, Probe(name, node, "none"), "", labels)
    if pod.spec is not None:
        container = pod.spec.containers[0]
        container.image, container.image_pull_policy = f"{registry}/plstack-probe/none:0", "Always"
        container.volume_mounts, pod.spec.volumes = None, None
    return pod
