"""Amounts of resources, by accelerator model where that matters."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from apps.tenants.choices import HolderKind, Resource

# A resource, or a resource of one accelerator model: the latter counts for the model and for all models together.
Key = Resource | tuple[Resource, str]
Amounts = Mapping[Key, int] | Mapping[Resource, int] | Mapping[tuple[Resource, str], int]
Line = tuple[Resource, str]


@dataclass(frozen=True, slots=True)
class Holder:
    """The object that takes what is reserved, so that the books can say who holds what."""

    kind: HolderKind
    id: UUID


def lines_of(amounts: Amounts) -> dict[Line, int]:
    """What is counted, line by line; amounts of nothing are left out."""
    lines: dict[Line, int] = {}
    for key, amount in amounts.items():
        resource, model = key if isinstance(key, tuple) else (key, "")
        for line in {(resource, model), (resource, "")}:
            lines[line] = lines.get(line, 0) + amount
    return {line: amount for line, amount in lines.items() if amount}


def line_words(resource: Resource, model: str) -> Promise | str:
    """`GPU cards (A100)`."""
    return format_lazy(_("{what} ({model})"), what=resource.label, model=model) if model else resource.label


def amount_text(resource: Resource, amount: int) -> str:
    """`4 CPU`, `16 GiB`, `0.5`, `3`: the amount with the unit that people use."""
    if resource in (Resource.MEMORY_MIB, Resource.STORAGE_MIB):
        return f"{amount / 1024:g} GiB"
    if resource in (Resource.CPU_MILLI, Resource.GPU_MILLI):
        return f"{amount / 1000:g}"
    return str(amount)
