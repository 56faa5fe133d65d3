"""What a check of a cluster found, in words: what was seen, and what it means for those who work there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.workloads.drivers.said import Said
from apps.workloads.words import sentence

TITLES = {
    "answer": gettext_lazy("API server"),
    "version": gettext_lazy("Versions"),
    "permissions": gettext_lazy("Permissions"),
    "nodes": gettext_lazy("Nodes"),
    "cards": gettext_lazy("How cards are given"),
    "storage_classes": gettext_lazy("Storage classes"),
    "probes": gettext_lazy("Pods start"),
    "reach": gettext_lazy("Pods are reached from here"),
    "files": gettext_lazy("The platform's files"),
    "network_policy": gettext_lazy("Network policies"),
    "user_namespaces": gettext_lazy("User namespaces"),
    "clocks": gettext_lazy("Clocks"),
    "registry": gettext_lazy("Image registry"),
}
_SAID = {
    ("answer", "answers"): gettext_lazy("%(server)s answered within %(ms)s ms."),
    ("version", "old"): gettext_lazy("Kubernetes %(version)s; %(least)s or later is needed."),
    ("version", "skew"): gettext_lazy(
        "Kubernetes %(version)s; kubelets: %(kubelets)s. More than three minor versions behind: %(nodes)s."
    ),
    ("version", "fits"): gettext_lazy("Kubernetes %(version)s; kubelets: %(kubelets)s."),
    ("permissions", "missing"): gettext_lazy("The account may not: %(missing)s."),
    ("permissions", "wanted"): gettext_lazy("Everything that work needs is held; checks would also use: %(wanted)s."),
    ("permissions", "held"): gettext_lazy("All %(count)s were asked for and are held."),
    ("nodes", "none"): gettext_lazy("No node is ready, of %(count)s."),
    ("nodes", "troubles"): gettext_lazy("Of %(count)s nodes, in trouble: %(bad)s."),
    ("nodes", "ready"): gettext_lazy("All %(count)s are ready and without pressure."),
    ("cards", "claimed"): gettext_lazy(
        "Drivers for dynamic resource allocation: %(drivers)s. Device plugins: %(plugins)s."
    ),
    ("cards", "counted"): gettext_lazy("Device plugins only: %(plugins)s."),
    ("cards", "none"): gettext_lazy("No device plugin and no driver for dynamic resource allocation offers cards."),
    ("storage_classes", "found"): gettext_lazy("%(classes)s (* default)."),
    ("storage_classes", "none"): gettext_lazy("There are none."),
    ("storage_classes", "forbidden"): gettext_lazy("The account may not list them."),
    ("probes", "started"): gettext_lazy("%(count)s small pods of the image %(image)s started."),
    ("probes", "not_started"): gettext_lazy("Pods of the image %(image)s do not start: %(why)s"),
    ("reach", "reached"): gettext_lazy("Port %(port)s of pods on %(nodes)s was reached."),
    ("reach", "unreachable"): gettext_lazy("Port %(port)s of pods cannot be reached on: %(nodes)s."),
    ("files", "shared"): gettext_lazy("What pods on %(nodes)s wrote was read here."),
    ("files", "elsewhere"): gettext_lazy("What pods wrote did not arrive here: %(bad)s."),
    ("network_policy", "enforced"): gettext_lazy(
        "Proved: port %(port)s was closed from %(from)s to %(to)s, and open once a rule opened it."
    ),
    ("network_policy", "open"): gettext_lazy(
        "Proved not to be enforced: from %(from)s a pod reached port %(port)s on %(to)s although the rules close it."
    ),
    ("network_policy", "carries_nothing"): gettext_lazy(
        "Port %(port)s could not be reached from %(from)s to %(to)s, not even once a rule opened it."
    ),
    ("user_namespaces", "mapped"): gettext_lazy("User 0 of a pod is %(outside)s on %(node)s, Linux %(kernel)s."),
    ("user_namespaces", "ignored"): gettext_lazy("%(node)s, Linux %(kernel)s, gave a pod the users of its host."),
    ("user_namespaces", "refused"): gettext_lazy("A pod with users of its own did not start: %(error)s"),
    ("clocks", "agree"): gettext_lazy("Seconds off this machine's: %(nodes)s."),
    ("clocks", "off"): gettext_lazy("%(node)s is off by %(seconds)s s. All: %(nodes)s."),
    ("registry", "answers"): gettext_lazy("%(node)s asked %(host)s for an image and got an answer."),
    ("registry", "unreachable"): gettext_lazy("%(node)s did not reach %(host)s: %(error)s"),
    ("registry", "no_registry"): gettext_lazy("The platform has no registry of its own."),
}
_MEANS = {
    ("answer", "silent"): gettext_lazy(
        "Nothing new starts there. What runs goes on, and nothing is judged by the silence."
    ),
    ("version", "old"): gettext_lazy("Work may not start: cards cannot be claimed."),
    ("version", "skew"): gettext_lazy("Kubernetes does not support that; pods there may behave differently."),
    ("permissions", "missing"): gettext_lazy("Work fails to start, or is not cleaned up, where a right is missing."),
    ("permissions", "wanted"): gettext_lazy("Work is not affected."),
    ("nodes", "none"): gettext_lazy("Nothing can be placed in this zone."),
    ("nodes", "troubles"): gettext_lazy("Nodes that are not ready get no new work; pressure evicts pods."),
    ("cards", "claimed"): gettext_lazy("The very card is given that was chosen."),
    ("cards", "counted"): gettext_lazy("Cards are given by number: the node picks which."),
    ("cards", "none"): gettext_lazy("Only work without accelerators can be placed."),
    ("storage_classes", "found"): gettext_lazy("Runs do not need one: they use the platform's files."),
    ("storage_classes", "none"): gettext_lazy("Runs do not need one: they use the platform's files."),
    ("probes", "started"): gettext_lazy("Work can start."),
    ("probes", "not_started"): gettext_lazy("No work can start."),
    ("reach", "reached"): gettext_lazy("Logs, charts and terminals work."),
    ("reach", "unreachable"): gettext_lazy("No logs, charts or terminals while work runs; its end is still seen."),
    ("files", "shared"): gettext_lazy("Code, data and outputs are the same there and here."),
    ("files", "elsewhere"): gettext_lazy("Work would not find its code, and its outputs and logs would be lost."),
    ("network_policy", "enforced"): gettext_lazy("Organisations cannot reach each other's pods."),
    ("network_policy", "open"): gettext_lazy(
        "Pods of one organisation reach those of another. Let only organisations that trust each other share it."
    ),
    ("network_policy", "carries_nothing"): gettext_lazy("Members of a gang would not reach each other."),
    ("user_namespaces", "mapped"): gettext_lazy("Users of pods could be nobody's on the host."),
    ("user_namespaces", "ignored"): gettext_lazy("It needs Linux 6.3, containerd 2.0 and runc 1.2 or later."),
    ("user_namespaces", "refused"): gettext_lazy("It needs Linux 6.3, containerd 2.0 and runc 1.2 or later."),
    ("clocks", "agree"): gettext_lazy("Logs and charges are timed well."),
    ("clocks", "off"): gettext_lazy("Times in logs do not fit each other, and signed requests may be refused."),
    ("registry", "answers"): gettext_lazy("Images of people can be pulled."),
    ("registry", "unreachable"): gettext_lazy("Runs in images of the platform's registry cannot start."),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Told:
    """One finding as a page shows it. `level`: ok, warn, fail or unknown."""

    check: str
    level: str
    title: str
    seen: str
    means: str
    command: str

    @property
    def is_good(self) -> bool:
        return self.level == "ok"


def told(finding: Mapping[str, Any]) -> Told:
    check, case = str(finding.get("check", "")), str(finding.get("case", ""))
    return Told(
        check=check,
        level=str(finding.get("level", "unknown")),
        title=str(TITLES.get(check, check)),
        seen=_seen(check, case, finding.get("params") or {}),
        means=str(_MEANS.get((check, case), "")),
        command=str(finding.get("command", "")),
    )


def _seen(check: str, case: str, params: Mapping[str, Any]) -> str:
    if "said" in params:
        return sentence(Said.from_json(params["said"]))
    words = _SAID.get((check, case))
    if words is None:
        return str(params["error"]) if "error" in params else _("It could not be proved.")
    return str(words) % {name: _listed(value) for name, value in params.items()}


def _listed(value: Any) -> Any:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "—"
    return value
