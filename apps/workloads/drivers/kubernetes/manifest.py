"""The pod of an attempt, as typed objects. Pure: nothing is asked of a cluster."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from kubernetes import client

from apps.workloads.drivers.base import Gang, LaunchRequest, Mount, Reference
from apps.workloads.drivers.kubernetes import devices, names
from apps.workloads.drivers.kubernetes.cluster import Cluster
from apps.workloads.drivers.kubernetes.code import archive
from apps.workloads.drivers.kubernetes.pod import first, lend, places, shim
from apps.workloads.drivers.local.environment import (
    SANDBOX_NOTICE,
    SANDBOX_PORTS,
    SANDBOX_SECRETS,
    SANDBOX_TMP,
    has_secret_files,
    needs_scratch,
)

GRACE_S = 30
"""More than the shim gives to a program whose pod is taken away."""
SHIM_MEMORY, SHIM_MEMORY_MOST = "64Mi", "512Mi"
LEND_MEMORY = "256Mi"
BASE = ("python3", "-I", "-S", "-c")


@dataclass(frozen=True, slots=True)
class Plan:
    """`node`: where it goes, as the cluster calls it. `uid`: of the organisation's work, everywhere. `missing`: targets
    whose source is not there.
    """

    cluster: Cluster
    node: str
    request: LaunchRequest
    uid: int
    missing: frozenset[str] = frozenset()

    @property
    def ref(self) -> str:
        return str(self.request.attempt_id)

    @property
    def is_container_image(self) -> bool:
        return isinstance(self.request.image, Reference)

    @property
    def mounts(self) -> list[tuple[str, Mount]]:
        """With the place of each in the shim's container."""
        numbered = enumerate(self.request.mounts)
        return [(f"{places.MOUNTS}/{n}", each) for n, each in numbered if each.target not in self.missing]

    @property
    def copies(self) -> list[tuple[str, Mount]]:
        numbered = enumerate(self.request.copies)
        return [(f"{places.COPIES}/{n}", each) for n, each in numbered if each.target not in self.missing]


def pod(plan: Plan) -> client.V1Pod:
    request, cluster = plan.request, plan.cluster
    labels = names.labels(cluster, request.tenant_id)
    labels |= {names.ATTEMPT: plan.ref, names.WORKLOAD: str(request.workload_id)}
    if request.gang is not None:
        labels |= {names.GANG: request.gang.group.hex, names.RANK: str(request.gang.rank)}
    spec = client.V1PodSpec(
        restart_policy="Never",
        automount_service_account_token=False,
        enable_service_links=False,
        host_users=False if cluster.user_namespaces else None,
        termination_grace_period_seconds=GRACE_S,
        affinity=client.V1Affinity(node_affinity=on_node(plan.node)),
        # Where it goes is decided, also beside taints that keep others away; those of a node that is lost stay.
        tolerations=[client.V1Toleration(operator="Exists", effect="NoSchedule")],
        priority_class_name=names.PRIORITY,
        security_context=client.V1PodSecurityContext(
            run_as_non_root=True,
            run_as_user=plan.uid,
            run_as_group=plan.uid,
            seccomp_profile=client.V1SeccompProfile(type="RuntimeDefault"),
        ),
        init_containers=[_lender(plan)] if plan.is_container_image else None,
        containers=[_shim(plan), _program(plan)],
        volumes=list(_volumes(plan)),
        resource_claims=devices.pod_claims(cluster, request),
        image_pull_secrets=None,
        hostname=f"m{request.gang.rank}" if request.gang is not None else "workload",
        subdomain=names.service(request.gang.group) if request.gang is not None else None,
        dns_config=_dns(plan),
    )
    meta = client.V1ObjectMeta(name=names.pod(plan.ref), labels=labels)
    return client.V1Pod(api_version="v1", kind="Pod", metadata=meta, spec=spec)


def on_node(node: str) -> client.V1NodeAffinity:
    """By the node's name itself: labels are anybody's to change."""
    named = client.V1NodeSelectorRequirement(key="metadata.name", operator="In", values=[node])
    term = client.V1NodeSelectorTerm(match_fields=[named])
    only = client.V1NodeSelector(node_selector_terms=[term])
    return client.V1NodeAffinity(required_during_scheduling_ignored_during_execution=only)


def _dns(plan: Plan) -> client.V1PodDNSConfig | None:
    """So that `m0` is a name."""
    gang = plan.request.gang
    if gang is None:
        return None
    domain = f"{names.service(gang.group)}.{names.namespace(plan.cluster, plan.request.tenant_id)}.svc"
    return client.V1PodDNSConfig(searches=[f"{domain}.{plan.cluster.domain}"])


def service(plan: Plan, gang: Gang) -> client.V1Service:
    """Without an address of its own: its name is the domain of its members' names, from before they are ready."""
    meta = client.V1ObjectMeta(
        name=names.service(gang.group), labels=names.labels(plan.cluster, plan.request.tenant_id)
    )
    spec = client.V1ServiceSpec(
        cluster_ip="None", selector={names.GANG: gang.group.hex}, publish_not_ready_addresses=True
    )
    return client.V1Service(api_version="v1", kind="Service", metadata=meta, spec=spec)


def given(plan: Plan, content: dict[str, bytes]) -> client.V1Secret:
    """What only the shim sees: the specification, the values of secrets, the key of its channel."""
    encoded: dict[str, bytes | str] = {name: plan.cluster.encoded(data) for name, data in content.items()}
    meta = client.V1ObjectMeta(
        name=names.given(plan.ref),
        labels=names.labels(plan.cluster, plan.request.tenant_id) | {names.ATTEMPT: plan.ref},
    )
    return client.V1Secret(metadata=meta, data=encoded, immutable=True)


def unprivileged() -> client.V1SecurityContext:
    return client.V1SecurityContext(allow_privilege_escalation=False, capabilities=client.V1Capabilities(drop=["ALL"]))


def _shim(plan: Plan) -> client.V1Container:
    tenant = _own(plan)
    mounts = [
        *_shared(),
        _mount("given", places.GIVEN, read_only=True),
        _mount("private", places.PRIVATE),
        _mount("tmp", places.TEMPORARY),
        _mount("notice", SANDBOX_NOTICE),
        _mount(names.CLAIM, places.RUNS, sub_path=f"{tenant}/runs"),
        _mount(names.CLAIM, places.RUNTIMES, sub_path=f"{tenant}/runtimes"),
        *(_volume_mount(each, place) for place, each in (*plan.mounts, *plan.copies)),
    ]
    if needs_scratch(plan.request):
        mounts.append(_mount("scratch", places.SCRATCH))
    return client.V1Container(
        name=names.SHIM,
        image=plan.cluster.image,
        image_pull_policy=plan.cluster.pull_policy,
        command=[*BASE, shim.BOOT, f"{places.CODE}/{places.ARCHIVE}"],
        env=[
            client.V1EnvVar(name="HOME", value=places.TEMPORARY),
            client.V1EnvVar(name="TMPDIR", value=places.TEMPORARY),
        ],
        working_dir="/",
        ports=[client.V1ContainerPort(container_port=places.PORT, name="shim")],
        resources=client.V1ResourceRequirements(requests={"memory": SHIM_MEMORY}, limits={"memory": SHIM_MEMORY_MOST}),
        security_context=unprivileged(),
        volume_mounts=mounts,
    )


def _program(plan: Plan) -> client.V1Container:
    request = plan.request
    mounts = [
        *_shared(),
        _mount("tmp", SANDBOX_TMP),
        _mount("shm", "/dev/shm"),  # noqa: S108 - the pod's own
        _mount("notice", SANDBOX_NOTICE, read_only=True),
        _mount("names", "/etc/passwd", sub_path="passwd", read_only=True),
        _mount("names", "/etc/group", sub_path="group", read_only=True),
        *(_volume_mount(each, each.target) for _place, each in plan.mounts),
    ]
    if plan.is_container_image:
        mounts.append(_mount("python", places.PYTHON, read_only=True))
    else:
        mounts.append(_mount(names.CLAIM, places.RUNTIMES, sub_path=f"{_own(plan)}/runtimes", read_only=True))
    if needs_scratch(request):
        mounts.append(_mount("scratch", request.workdir))
    if has_secret_files(request):
        mounts.append(_mount("secrets", SANDBOX_SECRETS))
    python = [*lend.COMMAND, *BASE[1:]] if plan.is_container_image else [*BASE]
    limits = {"cpu": f"{request.cpu_milli}m", "memory": f"{request.memory_mib}Mi"}
    limits |= devices.limits(plan.cluster, request)
    return client.V1Container(
        name=names.PROGRAM,
        image=request.image.name if isinstance(request.image, Reference) else plan.cluster.image,
        image_pull_policy=plan.cluster.pull_policy,
        command=[*python, first.BOOT, f"{places.CODE}/{places.ARCHIVE}"],
        resources=client.V1ResourceRequirements(
            requests=limits, limits=limits, claims=devices.container_claims(plan.cluster, request)
        ),
        security_context=unprivileged(),
        volume_mounts=sorted(mounts, key=lambda mount: len(PurePosixPath(mount.mount_path).parts)),
    )


def _lender(plan: Plan) -> client.V1Container:
    return client.V1Container(
        name=names.PYTHON,
        image=plan.cluster.image,
        image_pull_policy=plan.cluster.pull_policy,
        command=[*BASE, lend.BOOT, f"{places.CODE}/{places.ARCHIVE}"],
        resources=client.V1ResourceRequirements(requests={"memory": SHIM_MEMORY}, limits={"memory": LEND_MEMORY}),
        security_context=unprivileged(),
        volume_mounts=[_mount("code", places.CODE, read_only=True), _mount("python", places.PYTHON)],
    )


def _shared() -> list[client.V1VolumeMount]:
    """Seen by both: the code, the socket of the first process, the sockets of ports."""
    return [
        _mount("code", places.CODE, read_only=True),
        _mount("door", places.DOOR),
        _mount("ports", SANDBOX_PORTS),
    ]


def _own(plan: Plan) -> str:
    return f"{plan.cluster.volumes[names.CLAIM].own}/{plan.request.tenant_id.hex}"


def _mount(name: str, path: str, *, sub_path: str | None = None, read_only: bool = False) -> client.V1VolumeMount:
    return client.V1VolumeMount(name=name, mount_path=path, sub_path=sub_path, read_only=read_only or None)


def _volume_mount(mount: Mount, path: str) -> client.V1VolumeMount:
    return _mount(mount.volume, path, sub_path=mount.subpath, read_only=mount.read_only)


def _volumes(plan: Plan) -> Iterator[client.V1Volume]:
    request = plan.request
    yield client.V1Volume(name="code", config_map=client.V1ConfigMapVolumeSource(name=archive().name))
    items = [client.V1KeyToPath(key=name, path=name) for name in ("spec.json", "secrets.json", "key")]
    yield _of_secret("given", plan, items)
    yield _of_secret("names", plan, [client.V1KeyToPath(key=name, path=name) for name in ("passwd", "group")])
    for name in ("door", "ports", "private", "notice"):
        yield client.V1Volume(name=name, empty_dir=client.V1EmptyDirVolumeSource())
    scratch = f"{request.disk.scratch_mib}Mi"
    for name in ("tmp", *(["scratch"] if needs_scratch(request) else [])):
        yield client.V1Volume(name=name, empty_dir=client.V1EmptyDirVolumeSource(size_limit=scratch))
    memory = client.V1EmptyDirVolumeSource(medium="Memory", size_limit=f"{request.memory_mib}Mi")
    yield client.V1Volume(name="shm", empty_dir=memory)
    if has_secret_files(request):
        yield client.V1Volume(
            name="secrets", empty_dir=client.V1EmptyDirVolumeSource(medium="Memory", size_limit="4Mi")
        )
    if plan.is_container_image:
        yield client.V1Volume(name="python", empty_dir=client.V1EmptyDirVolumeSource())
    for name in sorted({names.CLAIM, *(mount.volume for mount in (*request.mounts, *request.copies))}):
        claim = client.V1PersistentVolumeClaimVolumeSource(claim_name=name)
        yield client.V1Volume(name=name, persistent_volume_claim=claim)


def _of_secret(name: str, plan: Plan, items: list[client.V1KeyToPath]) -> client.V1Volume:
    source = client.V1SecretVolumeSource(secret_name=names.given(plan.ref), items=items, default_mode=0o444)
    return client.V1Volume(name=name, secret=source)
