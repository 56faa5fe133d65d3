"""Sets of names that the house has and a kind of work may add to: permissions, lines of quota."""

from typing import Any, Self

# By set of names, what was added to it, by value and in the order of addition.
_ADDED: dict[type, dict[str, Any]] = {}


class OpenChoices:
    """Mixed into an enum of strings. What is added is a member of its type, found by value, and named by `every`.

    Iterating over the enum gives the house's own names alone: those that are in columns' choices. `new` makes members
    as `enum.Flag` makes those for combinations, so they compare, hash and serialise as the others do.
    """

    @classmethod
    def new(cls, value: str, label: Any = "") -> Self:
        """A further member. Nobody finds it by its value before it is added."""
        member: Any = str.__new__(cls, value)  # type: ignore[type-var]
        member._name_ = value.upper().replace(".", "_")
        member._value_ = value
        member._label_ = label
        return member  # type: ignore[no-any-return]

    @classmethod
    def add(cls, member: Self) -> None:
        """Raises `ValueError` for a value that the set has already."""
        if member in cls.every():
            raise ValueError(f"{cls.__name__} has “{member}” already.")
        _ADDED.setdefault(cls, {})[str(member)] = member

    @classmethod
    def remove(cls, member: Self) -> None:
        del _ADDED[cls][str(member)]

    @classmethod
    def every(cls) -> tuple[Self, ...]:
        """The house's own, in their order, then what was added."""
        return (*cls, *_ADDED.get(cls, {}).values())  # type: ignore[misc]

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return _ADDED.get(cls, {}).get(str(value))
