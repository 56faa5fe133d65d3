"""The points of a space that can be counted, each with a rank: a mixed radix in which conditions are branches."""

import math
from collections.abc import Iterator

from apps.automl.search.space.parameters import Parameter, Space, Value, is_active

# Values of parameters on which others depend, where a condition names them.
Known = tuple[tuple[str, Value], ...]


class Grid:
    """The points of a space, from rank 0 to `size - 1`. The sizes of its parameters are to be known.

    How many points there are below a value is the same for all values that no condition names; so a parameter with
    many values costs no more than the conditions on it.
    """

    def __init__(self, space: Space) -> None:
        self.parameters = space.parameters
        self._named = {each.name: list(_named_indices(each, space)) for each in space.parameters}
        names = [each.condition.parameter if each.condition else None for each in space.parameters]
        self._asked_from = [set(names[at:]) for at in range(len(names) + 1)]
        self._counts: dict[tuple[int, Known], int] = {}
        self.size = self._count(0, ())

    def point(self, rank: int) -> dict[str, Value]:
        """The values of the active parameters at this rank."""
        values: dict[str, Value] = {}
        known: Known = ()
        for at, parameter in enumerate(self.parameters):
            if is_active(parameter, dict(known)):
                index, rank, known = self._descend(at, rank, known)
                values[parameter.name] = parameter.nth(index)
        return values

    def _descend(self, at: int, rank: int, known: Known) -> tuple[int, int, Known]:
        """The index of this parameter's value, the rank below it, and what is known below it."""
        parameter = self.parameters[at]
        named = self._named[parameter.name]
        for index in named:
            learnt = self._learnt(at, index, known)
            below = self._count(at + 1, learnt)
            if rank < below:
                return index, rank, learnt
            rank -= below
        index, rank = divmod(rank, self._count(at + 1, known))
        for passed in named:
            index += passed <= index
        return index, rank, known

    def _learnt(self, at: int, index: int, known: Known) -> Known:
        return (*known, (self.parameters[at].name, self.parameters[at].nth(index)))

    def _count(self, at: int, known: Known) -> int:
        """How many points there are from this parameter on."""
        if at == len(self.parameters):
            return 1
        known = tuple(pair for pair in known if pair[0] in self._asked_from[at])
        if (at, known) not in self._counts:
            self._counts[at, known] = self._counted(at, known)
        return self._counts[at, known]

    def _counted(self, at: int, known: Known) -> int:
        parameter = self.parameters[at]
        if not is_active(parameter, dict(known)):
            return self._count(at + 1, known)
        named = self._named[parameter.name]
        branches = (self._count(at + 1, self._learnt(at, index, known)) for index in named)
        others = (parameter.size() or 0) - len(named)
        return sum(branches) + (others * self._count(at + 1, known) if others else 0)


def size(space: Space) -> int | None:
    """How many points the space has; None where they cannot be counted."""
    if any(parameter.size() is None for parameter in space.parameters):
        return None
    return Grid(space).size


def branches(space: Space) -> int:
    """The most combinations of named values that a count may have to tell apart."""
    return math.prod(1 + sum(1 for _ in _named_indices(parameter, space)) for parameter in space.parameters)


def _named_indices(parameter: Parameter, space: Space) -> Iterator[int]:
    """The indices, ascending, of this parameter's values that a condition names."""
    conditions = [each.condition for each in space.parameters if each.condition]
    values = [value for each in conditions if each.parameter == parameter.name for value in each.values]
    yield from sorted({index for value in values if (index := parameter.index_of(value)) is not None})
