"""An experiment as another system describes it: what a form is filled with, not yet checked against our rules."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping
from apps.automl.search.goals import MetricStrategy, Objective
from apps.automl.search.space import Parameter


class ResumePolicy(StrEnum):
    NEVER = "Never"
    LONG_RUNNING = "LongRunning"
    FROM_VOLUME = "FromVolume"


class CollectorKind(StrEnum):
    STDOUT = "StdOut"
    FILE = "File"
    TENSORBOARD = "TensorFlowEvent"
    NONE = "None"
    PUSH = "Push"


@dataclass(frozen=True, slots=True, kw_only=True)
class Collector:
    """Where metrics are read: at `path` for files and events, by `patterns` for text."""

    kind: CollectorKind = CollectorKind.STDOUT
    path: str = ""
    patterns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialParameter:
    """A name in the trial's template that stands for the parameter `reference`."""

    name: str
    reference: str
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """`template`: the rest of Katib's trial template, as it was written; the platform runs training jobs instead."""

    name: str
    objectives: tuple[Objective, ...]
    additional_metrics: tuple[str, ...] = ()
    strategies: Mapping[str, MetricStrategy] = field(default_factory=dict)
    algorithm: Algorithm = Algorithm.RANDOM
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None
    early_stopping: EarlyStopping = field(default_factory=EarlyStopping)
    parallel: int | None = None
    max_trials: int | None = None
    max_failed: int | None = None
    resume_policy: ResumePolicy = ResumePolicy.NEVER
    parameters: tuple[Parameter, ...] = ()
    collector: Collector = field(default_factory=Collector)
    trial_parameters: tuple[TrialParameter, ...] = ()
    template: Mapping[str, Any] = field(default_factory=dict)
