"""A draft as the tree of Katib's `Experiment`."""

from typing import Any

import yaml

from apps.automl.search.early_stopping import EarlyStoppingKind
from apps.automl.search.exchange.draft import Collector, CollectorKind, Draft
from apps.automl.search.exchange.fields import as_text
from apps.automl.search.exchange.katib_names import (
    ALGORITHMS,
    API_VERSION,
    EARLY_STOPPING,
    KIND,
    LOG_UNIFORM,
    MIN_TRIALS,
    SEED,
    SETTINGS,
    START_STEP,
)
from apps.automl.search.space import Parameter

Tree = dict[str, Any]
PATH_KINDS = {CollectorKind.FILE: "File", CollectorKind.TENSORBOARD: "Directory"}


def tree_of(draft: Draft) -> tuple[Tree, list[str]]:
    """The tree, and what it has no place for."""
    algorithm, left_out = _algorithm(draft)
    if any(parameter.condition for parameter in draft.parameters):
        left_out.append("conditions")
    if len(draft.objectives) > 1:
        left_out.append("objectives")
    spec = {
        "objective": _objective(draft),
        "algorithm": algorithm,
        "earlyStopping": _early_stopping(draft),
        "parallelTrialCount": draft.parallel,
        "maxTrialCount": draft.max_trials,
        "maxFailedTrialCount": draft.max_failed,
        "resumePolicy": draft.resume_policy.value,
        "parameters": [_parameter(parameter) for parameter in draft.parameters],
        "metricsCollectorSpec": _collector(draft.collector),
        "trialTemplate": _template(draft),
    }
    metadata = {"name": draft.name}
    return {"apiVersion": API_VERSION, "kind": KIND, "metadata": metadata, "spec": _said(spec)}, left_out


def yaml_of(tree: Tree) -> str:
    return yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)


def _said(tree: Tree) -> Tree:
    """Without the fields that say nothing."""
    return {name: value for name, value in tree.items() if value not in (None, "", [], {})}


def _objective(draft: Draft) -> Tree:
    first, others = draft.objectives[0], draft.objectives[1:]
    additional = [*draft.additional_metrics, *(each.metric for each in others)]
    strategies = [{"name": name, "value": strategy.value} for name, strategy in draft.strategies.items()]
    return _said(
        {
            "type": first.direction.value,
            "goal": first.goal,
            "objectiveMetricName": first.metric,
            "additionalMetricNames": list(dict.fromkeys(additional)),
            "metricStrategies": strategies,
        }
    )


def _algorithm(draft: Draft) -> tuple[Tree, list[str]]:
    theirs = {ours: name for name, ours in SETTINGS[draft.algorithm].items()}
    given = {name: value for name, value in draft.settings.items() if value is not None}
    settings = [_setting(theirs[name], value) for name, value in given.items() if name in theirs]
    if draft.seed is not None:
        settings.append(_setting(SEED, draft.seed))
    name = next(name for name, algorithm in ALGORITHMS.items() if algorithm is draft.algorithm)
    left_out = [f"algorithm.{name}" for name in given if name not in theirs]
    return _said({"algorithmName": name, "algorithmSettings": settings}), left_out


def _setting(name: str, value: Any) -> Tree:
    return {"name": name, "value": as_text(value)}


def _early_stopping(draft: Draft) -> Tree:
    rule = draft.early_stopping
    if rule.kind is EarlyStoppingKind.NONE:
        return {}
    settings = [_setting(MIN_TRIALS, rule.min_trials), _setting(START_STEP, rule.start_step)]
    return {"algorithmName": EARLY_STOPPING, "algorithmSettings": settings}


def _parameter(parameter: Parameter) -> Tree:
    bounds = {"min": parameter.low, "max": parameter.high, "step": parameter.step}
    space: Tree = {name: as_text(bound) for name, bound in bounds.items() if bound is not None}
    if parameter.choices:
        space["list"] = [as_text(choice) for choice in parameter.choices]
    if parameter.log:
        space["distribution"] = LOG_UNIFORM
    return {"name": parameter.name, "parameterType": parameter.kind.value, "feasibleSpace": space}


def _collector(collector: Collector) -> Tree:
    path = {"path": collector.path, "kind": PATH_KINDS.get(collector.kind)} if collector.path else {}
    patterns = {"metricsFormat": list(collector.patterns)} if collector.patterns else {}
    source = _said({"fileSystemPath": _said(path), "filter": patterns})
    return _said({"collector": {"kind": collector.kind.value}, "source": source})


def _template(draft: Draft) -> Tree:
    parameters = [
        _said({"name": each.name, "description": each.description, "reference": each.reference})
        for each in draft.trial_parameters
    ]
    return _said({**draft.template, "trialParameters": parameters})
