"""The charts of a workload: measurements of its attempt as points over time."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from apps.common.formatting import cores, memory
from apps.workloads.drivers.base import Usage
from apps.workloads.models import Workload
from apps.workloads.selectors import current_attempt, program, usage_series
from apps.workloads.spec import Spec

MAX_POINTS = 600


@dataclass(frozen=True, slots=True)
class Chart:
    """How one series is read: its unit, its value from a measurement, its limit from the spec."""

    unit: str
    value: Callable[[Usage], float | None]
    limit: Callable[[Spec], float | None]


CHARTS = {
    "cpu": Chart("", lambda use: use.cpu_milli / 1000, lambda spec: spec.cpu_milli / 1000),
    "memory": Chart("GiB", lambda use: use.memory_mib / 1024, lambda spec: spec.memory_mib / 1024),
    "gpu": Chart("%", lambda use: use.gpu_util_pct, lambda spec: 100.0),
    "gpu_memory": Chart(
        "GB",  # as sold: a card of 80 GB is one of 81,920 MiB
        lambda use: None if use.gpu_memory_mib is None else use.gpu_memory_mib / 1024,
        lambda spec: spec.gpu.memory_mib / 1024 if spec.gpu and spec.gpu.memory_mib else None,
    ),
    "temperature": Chart("°C", lambda use: use.gpu_temperature_c, lambda spec: None),
}


def charts_of(workload: Workload) -> list[dict[str, Any]]:
    """The charts that a workload of this package has: those of the GPU only where there is one."""
    spec = workload.frozen_spec
    shown = ("gpu", "gpu_memory", "temperature", "cpu", "memory") if spec.gpu else ("cpu", "memory")
    return [{"name": name, "title": _titles()[name], "limit": _limit_text(name, spec)} for name in shown]


def _titles() -> dict[str, str]:
    return {
        "cpu": _("CPU"),
        "memory": _("Memory"),
        "gpu": _("GPU utilisation"),
        "gpu_memory": _("GPU memory"),
        "temperature": _("GPU temperature"),
    }


def _limit_text(name: str, spec: Spec) -> str:
    """What stands after the newest value: how much there is in all."""
    if name in ("gpu", "temperature"):
        return "%" if name == "gpu" else "°C"
    limit = CHARTS[name].limit(spec)
    if name == "cpu":
        return _("of %(cores)s CPU") % {"cores": cores(spec.cpu_milli)}
    return _("of %(amount)s") % {"amount": memory(limit * 1024)} if limit else ""


def series_of(workload: Workload, name: str, since: float = 0.0, rank: int = 0) -> list[dict[str, Any]] | None:
    """Points newer than `since` (Unix seconds): [{"name", "unit", "limit", "points": [[Unix seconds, value], …]}].

    Of a gang, those of one member. None for an unknown chart; raises `NotFound` for a rank that it has not.
    """
    chart, found = CHARTS.get(name), program(current_attempt(workload), rank)
    if chart is None:
        return None
    origin = found.started_at.timestamp() if found and found.started_at else 0.0
    points = [
        [round(origin + use.at_s, 3), round(value, 3)]
        for use in _thinned(usage_series(found, since_s=max(0.0, since - origin)))
        if (value := chart.value(use)) is not None
    ]
    limit = chart.limit(workload.frozen_spec)
    return [{"name": _titles()[name], "unit": chart.unit, "limit": limit, "points": points}]


def _thinned(samples: list[Usage]) -> list[Usage]:
    """At most `MAX_POINTS`, evenly taken, the newest always among them."""
    step = len(samples) // MAX_POINTS + 1
    return samples[::-1][::step][::-1]
