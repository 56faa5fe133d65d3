"""What a container image is given of the machine beside the devices. Standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Edits:
    """What images are given: `mounts` from a path of the machine to one inside, `links` by path, variables."""

    mounts: tuple[tuple[str, str], ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    env: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.mounts or self.links or self.env)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Edits":
        """What `dataclasses.asdict` made of one."""
        return cls(*(_pairs(data[name]) for name in ("mounts", "links", "env")))


def _pairs(rows: Sequence[Sequence[str]]) -> tuple[tuple[str, str], ...]:
    return tuple((str(first), str(second)) for first, second in rows)
