"""What was found, as codes with figures: the words are made where they are read."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Check(StrEnum):
    """In the order in which they are made."""

    ANSWER = "answer"
    VERSION = "version"
    PERMISSIONS = "permissions"
    NODES = "nodes"
    CARDS = "cards"
    STORAGE_CLASSES = "storage_classes"
    PROBES = "probes"
    REACH = "reach"
    FILES = "files"
    NETWORK_POLICY = "network_policy"
    USER_NAMESPACES = "user_namespaces"
    CLOCKS = "clocks"
    REGISTRY = "registry"


class Level(StrEnum):
    """`UNKNOWN`: it could not be proved, which is no fault and no proof."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """`case`: which of the check's sentences it is. `params`: strings, numbers and lists of strings. `command`: what
    mends it; empty where nothing is to be mended, or no command can.
    """

    check: Check
    level: Level
    case: str
    params: Mapping[str, Any] = field(default_factory=dict)
    command: str = ""

    def as_json(self) -> dict[str, Any]:
        return {
            "check": self.check.value,
            "level": self.level.value,
            "case": self.case,
            "params": dict(self.params),
            "command": self.command,
        }
