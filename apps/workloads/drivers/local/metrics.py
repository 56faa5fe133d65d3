"""Usage over time: the shim's samples, and those of the cards, which whoever looked has added."""

import json
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from apps.workloads.drivers.base import Usage
from apps.workloads.drivers.local.records import RunDirectory

GPU_SAMPLE_VALID_S = 30.0
_CARD = ("gpu_util_pct", "gpu_memory_mib", "gpu_temperature_c", "gpu_fullest_mib")


def read_metrics(run: RunDirectory, since_s: float) -> list[Usage]:
    """Samples after `since_s`, oldest first, each with the latest GPU sample if that is recent enough."""
    samples = [Usage(**fields) for fields in _lines(run.metrics) if fields["at_s"] > since_s]
    cards = sorted(_lines(run.gpu_metrics), key=lambda fields: float(fields["at_s"]))
    times = [float(fields["at_s"]) for fields in cards]
    return [_with_card(sample, cards, bisect_right(times, sample.at_s) - 1) for sample in samples]


def append_gpu(run: RunDirectory, usage: Usage) -> None:
    record = {"at_s": usage.at_s, **{name: getattr(usage, name) for name in _CARD}}
    with suppress(OSError), open(run.gpu_metrics, "a") as file:
        file.write(json.dumps(record) + "\n")


def _with_card(sample: Usage, cards: list[dict[str, Any]], position: int) -> Usage:
    if position < 0 or sample.at_s - cards[position]["at_s"] > GPU_SAMPLE_VALID_S:
        return sample
    found = cards[position]
    return replace(
        sample,
        gpu_util_pct=found["gpu_util_pct"],
        gpu_memory_mib=found["gpu_memory_mib"],
        gpu_temperature_c=found.get("gpu_temperature_c"),
        gpu_fullest_mib=found.get("gpu_fullest_mib"),
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """A line that is being written, or that a full disk cut short, is left out."""
    if not path.exists():
        return
    for line in path.read_text().splitlines():
        with suppress(ValueError):
            yield json.loads(line)
