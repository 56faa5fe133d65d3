"""Asking work to give way. Nobody is asked yet: the scheduler is told to look for no victims."""

from collections.abc import Sequence
from datetime import datetime

import scheduler
from apps.common.actor import Actor


def ask_to_leave(actor: Actor, preempts: Sequence[scheduler.Preempt], now: datetime) -> int:
    """The number of attempts that were asked."""
    return 0
