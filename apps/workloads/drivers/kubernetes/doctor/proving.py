"""Checks that try it: what an API tells of network policies or storage is a promise, not a proof."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from apps.workloads.drivers.kubernetes import names
from apps.workloads.drivers.kubernetes import tenant as tenants
from apps.workloads.drivers.kubernetes.cluster import TIMEOUT_S
from apps.workloads.drivers.kubernetes.doctor import probe as probes
from apps.workloads.drivers.kubernetes.doctor.findings import Check, Finding, Level
from apps.workloads.drivers.kubernetes.doctor.probe import CLOSED
from apps.workloads.drivers.kubernetes.doctor.probing import AGAIN_S, Probes, remove_pod, trouble

SETTLE_S = 6.0
"""How long a network may take to bind a new pod or policy."""
MOST_OFF_S, OFF_S = 5.0, 1.0
PULL_S = 45.0
POLICY_FIX = "cilium install  # https://docs.cilium.io; or Calico: any network that enforces NetworkPolicy"
CLOCK_FIX = (
    "kubectl debug node/{node} -it --profile=sysadmin --image=busybox -- "
    "chroot /host sh -c 'systemctl enable --now chronyd && chronyc makestep'"
)


def started(found: Probes, plain: Sequence[str]) -> Finding:
    """Whether pods with the zone's image start at all."""
    silent = [found.pods[name] for name in plain if name not in found.told]
    why = [f"{pod.node or pod.name}: {text}" for pod in silent if (text := trouble(pod) or pod.unscheduled)]
    params = {"image": found.cluster.image, "count": len(plain), "why": why}
    if why:
        command = f"kubectl -n {found.space} get events --sort-by=.lastTimestamp"
        return Finding(Check.PROBES, Level.FAIL, "not_started", params, command)
    return Finding(Check.PROBES, Level.OK, "started", params)


def reach(found: Probes, plain: Sequence[str]) -> Finding:
    """From where this runs, as shims are asked."""
    silent = [name for name in plain if name not in found.told]
    params = {"port": probes.ALLOWED, "nodes": [found.node_of(name) for name in plain if name in found.told]}
    if silent:
        params["nodes"] = [found.node_of(name) for name in silent]
        params["errors"] = [trouble(found.pods[name]) or found.pods[name].unscheduled for name in silent]
        return Finding(Check.REACH, Level.FAIL, "unreachable", params, "ip route get POD-ADDRESS")
    return Finding(Check.REACH, Level.OK, "reached", params)


def files(found: Probes, plain: Sequence[str]) -> Finding:
    """A word that each wrote is read where the platform has its files.

    `proved`: nodes all of whose probes did. `elsewhere` and `errors`: the others that answered, and what each said.
    """
    answered = [name for name in plain if name in found.told]
    wrong = {found.node_of(name): error for name in answered if (error := _file_error(found, name))}
    nodes = [found.node_of(name) for name in answered]
    params: dict[str, Any] = {
        "nodes": nodes,
        "bad": [f"{node}: {error}" for node, error in wrong.items()],
        "proved": sorted(set(nodes) - wrong.keys()),
        "elsewhere": list(wrong),
        "errors": list(wrong.values()),
    }
    if not nodes:
        return Finding(Check.FILES, Level.UNKNOWN, "unproved")
    if wrong:
        return Finding(Check.FILES, Level.FAIL, "elsewhere", params, f"kubectl describe pv {volume(found)}")
    return Finding(Check.FILES, Level.OK, "shared", params)


def _file_error(found: Probes, name: str) -> str:
    """Why what the probe wrote is not here; a dash where it says that it has written it."""
    said = str(found.told[name]["files"])
    is_here = (found.folder / f"{found.word[:12]}-{name}").exists()
    return said or ("" if is_here else "–")


def volume(found: Probes) -> str:
    return names.volume(found.cluster, found.tenant, names.CLAIM)


def network_policy(found: Probes, plain: Sequence[str], report: Callable[[], None]) -> Finding:
    """Two pods under the rules of an organisation: a closed port has to be closed, and open once a rule opens it.

    The second half tells a network that enforces from one that carries nothing.
    """
    pair = [name for name in plain if name in found.told][:2]
    if len(pair) < 2:
        return Finding(Check.NETWORK_POLICY, Level.UNKNOWN, "unproved")
    params = {"from": found.pods[pair[1]].node, "to": found.pods[pair[0]].node, "port": CLOSED}
    if _reaches(found, pair, wanted=False, report=report):
        return Finding(Check.NETWORK_POLICY, Level.FAIL, "open", params, POLICY_FIX)
    found.cluster.networking.create_namespaced_network_policy(
        found.space, tenants.gang_policy(found.cluster, found.tenant, found.group), _request_timeout=TIMEOUT_S
    )
    if _reaches(found, pair, wanted=True, report=report):
        return Finding(Check.NETWORK_POLICY, Level.OK, "enforced", params)
    return Finding(Check.NETWORK_POLICY, Level.WARN, "carries_nothing", params)


def _reaches(found: Probes, pair: Sequence[str], *, wanted: bool, report: Callable[[], None]) -> bool:
    """Tried until it is as wanted, or a network has had its time."""
    end = time.monotonic() + SETTLE_S
    while True:
        report()
        said = found.ask(pair[1], (found.pods[pair[0]].address, CLOSED)) or {}
        reached = bool(said.get("reached"))
        if reached is wanted or time.monotonic() > end:
            return reached
        time.sleep(AGAIN_S)


def user_namespaces(found: Probes, name: str | None) -> Finding:
    said = found.told.get(name or "")
    if name is None or (said is None and not trouble(found.pods[name])):
        return Finding(Check.USER_NAMESPACES, Level.UNKNOWN, "unproved")
    if said is None:
        return Finding(Check.USER_NAMESPACES, Level.WARN, "refused", {"error": trouble(found.pods[name])[:300]})
    inside, outside, count = said["uids"]
    params = {"outside": outside, "count": count, "kernel": said["kernel"], "node": found.pods[name].node}
    if inside == "0" and outside != "0":
        return Finding(Check.USER_NAMESPACES, Level.OK, "mapped", params)
    return Finding(Check.USER_NAMESPACES, Level.WARN, "ignored", params)


def clocks(found: Probes, plain: Sequence[str]) -> Finding:
    """Of the nodes against this machine's; the time of a question and its answer is the error."""
    off = {
        found.pods[name].node: round(found.told[name]["time"] - found.told[name]["asked_at"], 2)
        for name in plain
        if name in found.told
    }
    if not off:
        return Finding(Check.CLOCKS, Level.UNKNOWN, "unproved")
    worst = max(off, key=lambda node: abs(off[node]))
    params = {"node": worst, "seconds": off[worst], "nodes": [f"{node} {by:+.2f}" for node, by in sorted(off.items())]}
    if abs(off[worst]) < OFF_S:
        return Finding(Check.CLOCKS, Level.OK, "agree", params)
    level = Level.FAIL if abs(off[worst]) >= MOST_OFF_S else Level.WARN
    return Finding(Check.CLOCKS, level, "off", params, CLOCK_FIX.format(node=worst))


# What container runtimes say when a registry answered, and has no such image or does not let one see it.
ANSWERED = ("not found", "denied", "unauthorized", "forbidden", "does not exist", "unknown", "401", "403", "404")


def registry(found: Probes, node: str, host: str, report: Callable[[], None]) -> Finding:
    """Pulled by the node itself, as work's images are."""
    if not host:
        return Finding(Check.REGISTRY, Level.UNKNOWN, "no_registry")
    name = f"pull-{found.word[:8]}"
    pod = probes.puller(found.cluster, name, node, host, names.labels(found.cluster, found.tenant))
    found.cluster.core.create_namespaced_pod(found.space, pod, _request_timeout=TIMEOUT_S)
    try:
        error = _pull_error(found, name, report)
    finally:
        remove_pod(found, name)
    params = {"host": host, "node": node, "error": error[:300]}
    if not error:
        return Finding(Check.REGISTRY, Level.UNKNOWN, "unproved", params)
    lowered = error.lower()
    if any(word in lowered for word in ANSWERED) and "no such host" not in lowered and "dial tcp" not in lowered:
        return Finding(Check.REGISTRY, Level.OK, "answers", params)
    return Finding(Check.REGISTRY, Level.WARN, "unreachable", params, f"curl -v https://{host}/v2/")


def _pull_error(found: Probes, name: str, report: Callable[[], None]) -> str:
    end = time.monotonic() + PULL_S
    while time.monotonic() < end:
        report()
        why = trouble(found.look(name))
        if why and "Back-off" not in why:
            return why
        time.sleep(AGAIN_S)
    return ""
