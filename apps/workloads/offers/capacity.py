"""How many runs of a package there is room for now: found by asking the scheduler, so that it holds for every mode."""

from collections.abc import Sequence

from apps.common.actor import Actor
from apps.workloads.explaining.hypothetical import MOST, asking
from apps.workloads.spec import Spec

__all__ = ["MOST", "room"]


def room(actor: Actor, specs: Sequence[Spec]) -> list[int]:
    """For each spec, how many copies would start now were the queue empty; `MOST` means "or more"."""
    with asking(actor) as ask:
        return [ask.room(spec) for spec in specs]
