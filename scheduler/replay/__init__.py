"""The what-if engine: replay the past or a trace with other nodes, queues and rules.

Drives the same `Engine` as the platform, on simulated time. Deterministic: same input, same report.
"""

from scheduler.replay.meter import Grid, Sample
from scheduler.replay.types import Arrival, Fate, Record, Report

__all__ = ["Arrival", "Fate", "Grid", "Record", "Report", "Sample"]
