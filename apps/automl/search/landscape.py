"""What the results say of two parameters together."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from apps.automl.search.space import Value

MOST_CELLS = 24
"""Of one parameter; one with fewer values has a cell for each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A trial of the experiment's own: where it lies, from 0 to 1 along each parameter, and what it reached."""

    number: int
    across: float
    up: float
    value: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Landscape:
    """The first objective as it is expected over two parameters, the others as in the best trial.

    `cells[row][column]` belongs to `ys[row]` and `xs[column]`, the values in the middle of the cells, which divide each
    parameter evenly (by its logarithm where it is searched so). None where the two cannot have these values together.
    """

    xs: tuple[Value, ...]
    ys: tuple[Value, ...]
    cells: tuple[tuple[float | None, ...], ...]
    spots: tuple[Spot, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> "Landscape":
        return cls(
            xs=tuple(said["xs"]),
            ys=tuple(said["ys"]),
            cells=tuple(tuple(row) for row in said["cells"]),
            spots=tuple(Spot(**each) for each in said["spots"]),
        )
