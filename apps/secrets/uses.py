"""What uses a secret. The apps that do stand above this one, so `settings.SECRET_USES` names who finds it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Use:
    """`kind` in words, `name` and `url` of the thing, `owner` as people call them. `running`: it has the value."""

    kind: str
    name: str
    url: str
    owner: str
    running: bool = False


FindUses: TypeAlias = Callable[[UUID], list[Use]]
"""Everything of one kind that names the secret with this id."""
