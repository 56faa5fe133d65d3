"""From a request to its pod. Whatever of it is there already is taken as it is."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from kubernetes.client import ApiException

from apps.workloads.drivers.base import IsolationLevel, LaunchRefused, LaunchRequest, Mount
from apps.workloads.drivers.kubernetes import devices, manifest, names
from apps.workloads.drivers.kubernetes import tenant as tenants
from apps.workloads.drivers.kubernetes.cluster import (
    CONFLICT,
    MISSING,
    TIMEOUT_S,
    UNPROCESSABLE,
    Cluster,
    Place,
    reason,
)
from apps.workloads.drivers.kubernetes.journal import Journals
from apps.workloads.drivers.kubernetes.manifest import Plan
from apps.workloads.drivers.kubernetes.pod import places
from apps.workloads.drivers.kubernetes.pod.places import SLOTS
from apps.workloads.drivers.local import accounts, sandbox
from apps.workloads.drivers.local.checks import secret_values
from apps.workloads.drivers.local.records import RunSpec, encode_spec
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.said import Code, Said


def launch(place: Place, request: LaunchRequest, uid: int, journals: Journals) -> None:
    """Raises LaunchRefused, OSError, ApiException, HTTPError."""
    cluster = place.cluster
    _check_volumes(cluster, request)
    runs = journals.provide(cluster, request.tenant_id, uid)
    own = runs / str(request.attempt_id)
    space = names.namespace(cluster, request.tenant_id)
    if (own / "state.json").exists() or (own / "exit.json").exists() or _is_there(cluster, names.pod(own.name), space):
        return  # a shim has begun it, wherever that is now, or will
    plan = Plan(cluster, place.node, request, uid, _missing(cluster, request))
    _give(plan)
    made = manifest.given(plan, content(plan))
    try:
        _create(partial(cluster.core.create_namespaced_secret, space, made))
    except ApiException as error:
        if error.status != MISSING:
            raise
        tenants.provide(cluster, request.tenant_id)  # nothing of this organisation's has run there yet
        _create(partial(cluster.core.create_namespaced_secret, space, made))
    own.mkdir(mode=0o700, exist_ok=True)
    os.chown(own, uid, uid)
    _join(plan, space)
    claim = devices.claim(cluster, request)
    if claim is not None:
        _create(partial(cluster.resources.create_namespaced_resource_claim, space, claim))
    try:
        _create(partial(cluster.core.create_namespaced_pod, space, manifest.pod(plan)))
    except ApiException as error:
        if error.status == UNPROCESSABLE:
            raise LaunchRefused(
                "pod_invalid", Said(Code.CLUSTER_REFUSES, {"status": 422, "error": reason(error)})
            ) from error
        raise


def _join(plan: Plan, space: str) -> None:
    """The names of a gang's members, and the way between them."""
    gang, cluster = plan.request.gang, plan.cluster
    if gang is None:
        return
    _create(partial(cluster.core.create_namespaced_service, space, manifest.service(plan, gang)))
    policy = tenants.gang_policy(cluster, plan.request.tenant_id, gang.group)
    _create(partial(cluster.networking.create_namespaced_network_policy, space, policy))


def content(plan: Plan) -> dict[str, bytes]:
    """Of the Secret."""
    request = plan.request
    env = {**request.env, SLOTS: str(len(request.devices))} if request.gang is not None else request.env
    hosted = replace(request, devices=(), egress=False, env=env)
    spec = RunSpec(
        hosted, IsolationLevel.L1, None, use_cgroups=False, home=places.HOME,
        mounts=tuple(_hosted(plan, place, mount) for place, mount in _all_mounts(plan)),
        copies=tuple(_hosted(plan, f"{places.COPIES}/{n}", copy) for n, copy in enumerate(request.copies)),
    )  # fmt: skip
    etc = sandbox.account_files(plan.uid)
    return {
        "spec.json": encode_spec(spec),
        "secrets.json": json.dumps(secret_values(request)).encode(),
        "key": names.key(plan.cluster, plan.ref),
        **{name: text.encode() for name, text in etc.items()},
    }


def _all_mounts(plan: Plan) -> list[tuple[str, Mount]]:
    """Also of those that are missing: the shim finds nothing there, and says so."""
    return [(f"{places.MOUNTS}/{number}", mount) for number, mount in enumerate(plan.request.mounts)]


def _hosted(plan: Plan, place: str, mount: Mount) -> HostMount:
    return HostMount(place, mount.target, mount.read_only, mount.limit_mib)


def _check_volumes(cluster: Cluster, request: LaunchRequest) -> None:
    for mount in (*request.mounts, *request.copies):
        if mount.volume not in cluster.volumes:
            params = {"volume": mount.volume, "target": mount.target}
            raise LaunchRefused("bad_mount", Said(Code.NO_SUCH_VOLUME, params))


def _missing(cluster: Cluster, request: LaunchRequest) -> frozenset[str]:
    """A kubelet would make a folder where there is none, as root, and go on."""
    found = set()
    for mount in (*request.mounts, *request.copies):
        root = cluster.volumes[mount.volume].root.resolve()
        if not os.path.exists(root / mount.subpath) or os.path.realpath(root / mount.subpath) != str(
            root / mount.subpath
        ):
            found.add(mount.target)
    return frozenset(found)


def _give(plan: Plan) -> None:
    """What may be written to is the organisation's user's."""
    for mount in plan.request.mounts:
        if not mount.read_only and mount.target not in plan.missing:
            accounts.give(plan.cluster.volumes[mount.volume].root.resolve() / mount.subpath, plan.uid)


def _is_there(cluster: Cluster, pod: str, space: str) -> bool:
    try:
        cluster.core.read_namespaced_pod(pod, space, _request_timeout=TIMEOUT_S)
    except ApiException as error:
        if error.status == MISSING:
            return False
        raise
    return True


def _create(make: Callable[[], object]) -> None:
    """One that is there already was made by an earlier try."""
    try:
        make()
    except ApiException as error:
        if error.status != CONFLICT:
            raise
