"""A cause as it is told: what is known of it, and the words that come of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.workloads.explaining.names import NAMELESS, Names
from apps.workloads.spec import Gpu


@dataclass(frozen=True, slots=True)
class Words:
    """`title`: what is the matter, in few words. `text`: what follows from it."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """A cause as it is kept, with names for its ids. `asked`: nothing is submitted yet, so nothing has to be stopped.

    `offered`: told to those who offer a package, not to those who choose one. `nearest` empty: no machine to name, as
    in a list.
    """

    cause: str
    params: Mapping[str, Any] = field(default_factory=dict)
    nearest: Mapping[str, Any] = field(default_factory=dict)
    names: Names = NAMELESS
    gpu: Gpu | None = None
    asked: bool = False
    offered: bool = False
    reserved: bool = False
