"""Optuna's studies as files, from and to inquiries. Files are opened in the engine's process alone."""

import base64
from dataclasses import dataclass

from apps.automl.search.failures import SearchFailed
from apps.automl.search.goals import Objective
from apps.automl.search.inquiry import Inquiry, PastTrial
from apps.automl.search.process import call
from apps.automl.search.space import Space

LARGEST = 32 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedStudy:
    """`names`: of all studies in the file; `left_out`: how many trials were too many.

    The space is what the trials show, without conditions, and the caller's to check (`space.problems`). A trial that
    was running in the file is told as running, though nobody runs it here.
    """

    name: str
    names: tuple[str, ...]
    space: Space
    objectives: tuple[Objective, ...]
    trials: tuple[PastTrial, ...]
    left_out: int


def export_study(inquiry: Inquiry, name: str) -> bytes:
    """The trials as a SQLite file that `optuna.load_study` and the dashboard of Optuna open. Raises `SearchFailed`."""
    content: str = call("write_study", inquiry=inquiry.as_json(), name=name)
    return base64.b64decode(content)


def import_study(content: bytes, name: str | None = None) -> ImportedStudy:
    """A study of the file: the one of this name, or the first.

    Raises `SearchFailed`: `too_large`, `not_a_study`, `no_such_study`, `empty_study`.
    """
    if len(content) > LARGEST:
        raise SearchFailed("too_large")
    said = call("read_study", content=base64.b64encode(content).decode(), name=name)
    return ImportedStudy(
        name=said["name"],
        names=tuple(said["names"]),
        space=Space.from_json(said["space"]),
        objectives=tuple(Objective.from_json(each) for each in said["objectives"]),
        trials=tuple(PastTrial.from_json(each) for each in said["trials"]),
        left_out=said["left_out"],
    )
