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


def keys_of(base: str, steps: Sequence[Step], files: Mapping[str, Copied], before: Sequence[str] = ()) -> list[str]:
    """One for each step; empty from the first on that fetches an address, since what that answers is not known before.

    `base`: its digest. `files`: all that the steps copy. `before`: `end_of` each earlier part. Lines and comments do
    not count. The architecture does, but is known only to the machine: it stands beside the key.
    """
    found: list[str] = []
    key = end_of(base, ())
    for step in steps:
        is_known = key and not step.url and (step.part is None or before[step.part])
        key = _digest([key, *_inputs(step, files, before)]) if is_known else ""
        found.append(key)
    return found


def end_of(base: str, keys: Sequence[str]) -> str:
    """All that a part is made of, after its last step."""
    return keys[-1] if keys else _digest([VERSION, base])


def _inputs(step: Step, files: Mapping[str, Copied], before: Sequence[str]) -> list[object]:
    copied = [[target, files[source].sha256, files[source].is_executable] for source, target in step.files]
    taken = [] if step.part is None else [before[step.part], step.paths]
    return [step.do, step.argv, sorted(step.env.items()), step.workdir, copied, step.target, step.mode, *taken]


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
