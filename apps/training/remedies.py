"""Buttons beside the advice on a failure of a run."""

from typing import Any

from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.formatting import memory
from apps.common.permissions import Permission
from apps.training.models import Run
from apps.workloads.choices import Reason
from apps.workloads.launching.submission import packages_on_offer


def remedies(actor: Actor, run: Run) -> list[dict[str, Any]]:
    """Fixes with an address, as `components/failure.html` shows them first."""
    if run.workload.reason != Reason.OUT_OF_MEMORY or not actor.may(Permission.TRAINING_SUBMIT):
        return []
    larger = next_larger(actor, run.workload.package)
    if larger is None:
        return []
    words = {"package": larger.name(get_language() or ""), "memory": memory(larger.memory_mib)}
    url = f"{reverse('training:new')}?from={run.pk}&package={larger.pk}"
    return [{"label": _("Clone with %(package)s (%(memory)s)") % words, "url": url}]


def next_larger(actor: Actor, package: Package) -> Package | None:
    """On offer, with the same cards and more memory: the one with the least memory, and of these the cheapest."""
    fields = (
        "gpu_mode",
        "gpu_model",
        "gpu_count",
        "gpu_core_milli",
        "gpu_memory_mib",
        "mig_profile",
        "rdma",
        "resource",
    )
    same = {name: getattr(package, name) for name in fields}
    place = getattr(getattr(package, "zone_offer", None), "zone_id", None)
    rows = packages_on_offer(actor).filter(**same, memory_mib__gt=package.memory_mib, cpu_milli__gte=package.cpu_milli)
    found = [
        each
        for each in rows
        if each.price is not None and getattr(getattr(each, "zone_offer", None), "zone_id", None) == place
    ]
    return min(found, key=lambda each: (each.memory_mib, each.price.rate_fen_per_hour, each.pk), default=None)  # type: ignore[union-attr]
