"""What would happen to a run if it were submitted now: for the quote and the package picker. Writes nothing."""

from collections.abc import Sequence
from uuid import UUID

from apps.common.actor import Actor
from apps.workloads.explaining.hypothetical import Forecast, asking
from apps.workloads.spec import Spec

__all__ = ["Forecast", "forecast", "forecasts"]


def forecast(actor: Actor, spec: Spec, *, priority: int | None = None) -> Forecast:
    """One dry pass over the cluster as it is, with this task at the end of the queue."""
    return forecasts(actor, [spec], priority=priority)[0]


def forecasts(
    actor: Actor, specs: Sequence[Spec], *, priority: int | None = None, instead_of: UUID | None = None
) -> list[Forecast]:
    """The same for several specs at one moment, each as if it were submitted alone.

    `instead_of`: a workload that waits and would leave the queue, so that what is kept for it is free.
    """
    with asking(actor, priority=priority, instead_of=instead_of) as ask:
        return ask.forecasts(specs)
