"""Enums that kinds of work may extend: permissions, lines of quota."""

from typing import Any, Self

# By set of names, what was added to it, by value and in the order of addition.
_ADDED: dict[type, dict[str, Any]] = {}


class OpenChoices:
    """Mixin for an enum of strings. Added members have its type, are found by value, and are listed by `every`.

    Iterating over the enum gives only the built-in members, which are those in columns' choices. `new` makes members as
    `enum.Flag` makes those for combinations, so they compare, hash and serialise as the others do.
    """

    @classmethod
    def new(cls, value: str, label: Any = "") -> Self:
        """Create a member. It is not found by its value before it is added."""
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
        """The built-in members in their order, then the added ones."""
        return (*cls, *_ADDED.get(cls, {}).values())  # type: ignore[misc]

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        return _ADDED.get(cls, {}).get(str(value))
