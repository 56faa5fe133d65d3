"""Katib's `Experiment` (kubeflow.org/v1beta1) as a draft, and a draft as an `Experiment`."""

from dataclasses import dataclass
from typing import Any

from apps.automl.search.exchange.draft import Draft
from apps.automl.search.exchange.fields import BadFile, Fault, Fields, load
from apps.automl.search.exchange.katib_names import API_VERSION, KIND
from apps.automl.search.exchange.katib_reading import draft_of
from apps.automl.search.exchange.katib_writing import tree_of, yaml_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`ignored`: the paths of fields that have no counterpart here."""

    draft: Draft
    ignored: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Writing:
    """`left_out`: what Katib has no field for: `conditions`, `objectives`, names of settings."""

    text: str
    left_out: tuple[str, ...]


def read(text: str) -> Reading:
    """What the file says. Raises `BadFile` with every fault; whether the space makes sense is for `space.problems`."""
    tree = load(text)
    if not _is_experiment(tree):
        raise BadFile([Fault(path="", code="not_an_experiment", said=f"{API_VERSION} {KIND}")])
    faults: list[Fault] = []
    ignored: list[str] = []
    fields = Fields(tree, "", faults, ignored)
    draft = draft_of(fields)
    if faults or draft is None:
        raise BadFile(faults)
    return Reading(draft=draft, ignored=tuple(ignored))


def write(draft: Draft) -> Writing:
    """The experiment as Katib takes it. Choices of words become text, as its lists have nothing else."""
    tree, left_out = tree_of(draft)
    return Writing(text=yaml_of(tree), left_out=tuple(left_out))


def _is_experiment(tree: Any) -> bool:
    return isinstance(tree, dict) and tree.get("apiVersion") == API_VERSION and tree.get("kind") == KIND
