"""The GPU-slicing allocator and the queue: plain data in, decisions out.

`plan(snapshot, now)` is one pass. No clock, no I/O, no framework.
"""

from scheduler.decisions import (
    Ahead,
    Alternative,
    Cause,
    CauseCode,
    FunnelStep,
    Holder,
    NearestMiss,
    Place,
    Plan,
    Preempt,
    Wait,
)
from scheduler.engine import Engine, plan
from scheduler.mix import LearnedMix, mix_of
from scheduler.rules import Rules
from scheduler.types import (
    ANY_MODEL,
    WHOLE_MILLI,
    Amount,
    Device,
    Gang,
    GpuRequest,
    MigProfile,
    Mix,
    MixEntry,
    Mode,
    Node,
    Queue,
    QueueLevel,
    Running,
    Slice,
    Snapshot,
    Task,
)

__all__ = [
    "ANY_MODEL",
    "WHOLE_MILLI",
    "Ahead",
    "Alternative",
    "Amount",
    "Cause",
    "CauseCode",
    "Device",
    "Engine",
    "FunnelStep",
    "Gang",
    "GpuRequest",
    "Holder",
    "LearnedMix",
    "MigProfile",
    "Mix",
    "MixEntry",
    "Mode",
    "NearestMiss",
    "Node",
    "Place",
    "Plan",
    "Preempt",
    "Queue",
    "QueueLevel",
    "Rules",
    "Running",
    "Slice",
    "Snapshot",
    "Task",
    "Wait",
    "mix_of",
    "plan",
]
