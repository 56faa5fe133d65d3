"""The past again, or a trace, against other nodes, queues and rules: the what-if engine.

Drives the same `Engine` as the platform, on simulated time. Deterministic: same input, same report.
"""

from scheduler.replay.meter import Grid, Sample
from scheduler.replay.types import Arrival, Fate, Record, Report

__all__ = ["Arrival", "Fate", "Grid", "Record", "Report", "Sample"]
