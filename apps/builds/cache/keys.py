"""By what a step is found again."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apps.builds.plan import Step

VERSION = 1
"""To be raised when the same step comes to change other things."""


@dataclass(frozen=True, slots=True)
class Copied:
    """A file that was uploaded: what it holds, and whether it can be executed, which `copy` passes on."""

    sha256: str
    is_executable: bool


def keys_of(base: str, steps: Sequence[Step], files: Mapping[str, Copied]) -> list[str]:
    """One for each step; empty from the first on that fetches an address, since what that answers is not known before.

    `base`: its digest. `files`: all that the steps copy. Lines and comments do not count. The architecture does, but is
    known only to the machine: it stands beside the key.
    """
    found: list[str] = []
    key = _digest([VERSION, base])
    for step in steps:
        key = "" if not key or step.url else _digest([key, *_inputs(step, files)])
        found.append(key)
    return found


def _inputs(step: Step, files: Mapping[str, Copied]) -> list[object]:
    copied = [[target, files[source].sha256, files[source].is_executable] for source, target in step.files]
    return [step.do, step.argv, sorted(step.env.items()), step.workdir, copied, step.target, step.mode]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
