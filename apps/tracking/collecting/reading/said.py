"""What one line of a log says: where the program is, and the values that it gives."""

from dataclasses import dataclass

Values = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Said:
    """`step`: of the run, as the line has it; `count` of `total`: within an epoch, or of a bar.

    `is_bar`: a bar that is drawn again and again; `is_mean`: its values are those of the whole epoch once it is full.
    `is_object`: a dict or a
    JSON object, whose epoch says where its step was.
    `counts`: whether the line says how far the run is, and not a part of it such as a download.
    """

    epoch: float | None = None
    epochs: int | None = None
    step: int | None = None
    steps: int | None = None
    count: int | None = None
    total: int | None = None
    values: Values = ()
    is_bar: bool = False
    is_mean: bool = False
    is_object: bool = False
    counts: bool = True

    @property
    def has_place(self) -> bool:
        return self.epoch is not None or self.step is not None or self.count is not None
