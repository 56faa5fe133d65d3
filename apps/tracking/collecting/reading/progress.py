"""How far a run is, at what pace, and when it will be done, as its log says."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from apps.tracking.collecting.reading.said import Said

LEAST_S = 3.0
"""A pace that was seen for a shorter time says nothing yet."""


@dataclass(slots=True)
class RunProgress:
    """`done` of `total`, in `unit` ("step" or "epoch"); `fraction` of the whole run, where it is known.

    `at`: Unix seconds. `since` and `since_fraction`: from where on its pace is measured.
    """

    done: float | None = None
    total: float | None = None
    unit: str = "step"
    epoch: float | None = None
    epochs: int | None = None
    fraction: float | None = None
    at: float | None = None
    since: float | None = None
    since_fraction: float | None = None

    @property
    def left_s(self) -> float | None:
        """Seconds until it is done, at the pace so far."""
        if None in (self.fraction, self.at, self.since, self.since_fraction):
            return None
        gone, seconds = self.fraction - self.since_fraction, self.at - self.since  # type: ignore[operator]
        if gone <= 0 or seconds < LEAST_S:
            return None
        return (1 - self.fraction) * seconds / gone  # type: ignore[operator]

    @property
    def per_s(self) -> float | None:
        """Units in a second."""
        left = self.left_s
        if not left or self.total is None or self.done is None:
            return None
        return max(0.0, self.total - self.done) / left

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "RunProgress":
        return cls(**data)

    def take(self, said: Said, *, first_epoch: float, at: float) -> None:
        """What one line adds. An epoch without a bar has ended where its line has values, and begins where not."""
        if not said.counts:
            return
        if said.epoch is not None:
            self.epoch, self.epochs = said.epoch, said.epochs or self.epochs
        if self.epochs and (said.epoch is not None or said.count is not None) and self.epoch is not None:
            self._of_epochs(said, first_epoch)
        elif said.step is not None and said.steps and said.values:
            self._set(said.step, said.steps, "step")
        elif said.is_bar and said.count is not None and said.total and said.epoch is None:
            self._set(said.count, said.total, "step")
        else:
            return
        self._time(at)

    def _of_epochs(self, said: Said, first_epoch: float) -> None:
        epoch, epochs = self.epoch or 0.0, self.epochs or 1
        begun = epoch - first_epoch
        inside = said.count / said.total if said.count is not None and said.total else None
        if inside is None:
            inside = 0.0 if not said.values else 1.0 if epoch == int(epoch) else 0.0
        self._set(min(begun + inside, epochs), epochs, "epoch")

    def _set(self, done: float, total: float, unit: str) -> None:
        self.done, self.total, self.unit = done, total, unit
        self.fraction = min(1.0, max(0.0, done / total)) if total else None

    def _time(self, at: float) -> None:
        fallen = self.since_fraction is None or (self.fraction is not None and self.fraction < self.since_fraction)
        if fallen:
            self.since, self.since_fraction = at, self.fraction
        self.at = at
