"""What a program is told that has to give way."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Notice:
    """It has to give way: SIGTERM in `leave_in_s` seconds, SIGKILL `save_s` later. `reason` is a stable code."""

    reason: str
    leave_in_s: float
    save_s: float
