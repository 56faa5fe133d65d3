"""The fields of Katib's `Experiment`, one function for each part of its `spec`."""

from typing import Any

from apps.automl.search.algorithms import SETTINGS as OURS
from apps.automl.search.algorithms import Algorithm, SettingKind
from apps.automl.search.early_stopping import EarlyStopping, EarlyStoppingKind
from apps.automl.search.exchange.draft import Collector, CollectorKind, Draft, ResumePolicy, TrialParameter
from apps.automl.search.exchange.fields import Fields, as_number
from apps.automl.search.exchange.katib_names import (
    ALGORITHMS,
    ALSO,
    EARLY_STOPPING,
    LOG_UNIFORM,
    MIN_TRIALS,
    SEED,
    SETTINGS,
    START_STEP,
    UNIFORM,
)
from apps.automl.search.goals import Direction, MetricStrategy, Objective
from apps.automl.search.space import Parameter, ParameterKind, Value


def draft_of(fields: Fields) -> Draft | None:
    """The draft; None where the objective cannot be told (then there is a fault)."""
    fields.text("apiVersion")
    fields.text("kind")
    metadata, spec = fields.below("metadata"), fields.below("spec")
    # What the cluster itself wrote into an experiment that was fetched from it says nothing about the search.
    name = metadata.text("name") or metadata.text("generateName").rstrip("-")
    metadata.end()
    fields.end()
    draft = _spec(name, spec)
    spec.end()
    return draft


def _spec(name: str, spec: Fields) -> Draft | None:
    objective, additional, strategies = _objective(spec.below("objective"))
    algorithm, settings, seed = _algorithm(spec.below("algorithm"))
    template, trial_parameters = _template(spec.below("trialTemplate"))
    draft: dict[str, Any] = {
        "early_stopping": _early_stopping(spec.below("earlyStopping")),
        "parallel": spec.whole("parallelTrialCount"),
        "max_trials": spec.whole("maxTrialCount"),
        "max_failed": spec.whole("maxFailedTrialCount"),
        "resume_policy": spec.choice("resumePolicy", ResumePolicy, ResumePolicy.NEVER),
        "parameters": tuple(_parameters(spec)),
        "collector": _collector(spec.below("metricsCollectorSpec")),
    }
    if objective is None:
        return None
    return Draft(
        name=name,
        objectives=(objective,),
        additional_metrics=additional,
        strategies=strategies,
        algorithm=algorithm,
        settings=settings,
        seed=seed,
        template=template,
        trial_parameters=trial_parameters,
        **draft,
    )


def _objective(fields: Fields) -> tuple[Objective | None, tuple[str, ...], dict[str, MetricStrategy]]:
    direction = fields.choice("type", Direction)
    metric = fields.text("objectiveMetricName", needed=True)
    goal = fields.number("goal")
    additional = fields.texts("additionalMetricNames")
    strategies = {}
    for each in fields.each("metricStrategies"):
        strategy = each.choice("value", MetricStrategy)
        name = each.text("name", needed=True)
        if strategy and name:
            strategies[name] = strategy
        each.end()
    fields.end()
    if direction is None or not metric:
        return None, additional, strategies
    return Objective(metric=metric, direction=direction, goal=goal), additional, strategies


def _algorithm(fields: Fields) -> tuple[Algorithm, dict[str, Any], int | None]:
    name = fields.text("algorithmName", needed=True)
    algorithm = ALGORITHMS.get(name) or ALSO.get(name)
    if name and algorithm is None:
        fields.fault("algorithmName", "unknown", name)
    algorithm = algorithm or Algorithm.RANDOM
    kinds = {each.name: each.kind for each in OURS[algorithm]}
    settings: dict[str, Any] = {}
    seed = None
    for each, said in _settings(fields):
        ours = SETTINGS[algorithm].get(said)
        if said == SEED:
            seed = each.whole("value")
        elif ours is None:
            each.text("value")
            each.ignore(said)
        else:
            settings[ours] = each.whole("value") if kinds[ours] is SettingKind.INT else each.number("value")
        each.end()
    fields.end()
    return algorithm, settings, seed


def _settings(fields: Fields) -> list[tuple[Fields, str]]:
    return [(each, each.text("name", needed=True)) for each in fields.each("algorithmSettings")]


def _early_stopping(fields: Fields) -> EarlyStopping:
    name = fields.text("algorithmName")
    if not name:
        fields.end()
        return EarlyStopping()
    if name != EARLY_STOPPING:
        fields.fault("algorithmName", "unknown", name)
    numbers: dict[str, int | None] = {}
    for each, said in _settings(fields):
        if said in (START_STEP, MIN_TRIALS):
            numbers[said] = each.whole("value")
        else:
            each.text("value")
            each.ignore(said)
        each.end()
    fields.end()
    default = EarlyStopping(kind=EarlyStoppingKind.MEDIAN)
    start, least = numbers.get(START_STEP), numbers.get(MIN_TRIALS)
    return EarlyStopping(
        kind=EarlyStoppingKind.MEDIAN,
        start_step=default.start_step if start is None else start,
        min_trials=default.min_trials if least is None else least,
    )


def _parameters(spec: Fields) -> list[Parameter]:
    if not spec.has("parameters"):
        spec.fault("parameters", "missing")
    return [parameter for each in spec.each("parameters") if (parameter := _parameter(each))]


def _parameter(fields: Fields) -> Parameter | None:
    name = fields.text("name", needed=True)
    kind = fields.choice("parameterType", ParameterKind)
    space = fields.below("feasibleSpace")
    numbered = kind in (ParameterKind.DOUBLE, ParameterKind.INT)
    low, high, step = (space.number(bound) for bound in ("min", "max", "step")) if numbered else (None, None, None)
    distribution = space.text("distribution") if numbered else ""
    if distribution not in ("", UNIFORM, LOG_UNIFORM):
        space.ignore("distribution")
    choices = () if numbered else _choices(space, kind)
    space.end()
    fields.end()
    if kind is None:
        return None
    log = distribution == LOG_UNIFORM
    return Parameter(name=name, kind=kind, low=low, high=high, step=step, log=log, choices=choices)


def _choices(space: Fields, kind: ParameterKind | None) -> tuple[Value, ...]:
    words = space.texts("list")
    if kind is not ParameterKind.DISCRETE:
        return words
    numbers = [as_number(word) for word in words]
    known = tuple(number for number in numbers if number is not None)
    if len(known) < len(words):
        space.fault("list", "wrong_type", words)
    return known


def _collector(fields: Fields) -> Collector:
    kinds, source = fields.below("collector"), fields.below("source")
    kind = kinds.choice("kind", CollectorKind, CollectorKind.STDOUT) or CollectorKind.STDOUT
    path, filters = source.below("fileSystemPath"), source.below("filter")
    collector = Collector(kind=kind, path=path.text("path"), patterns=filters.texts("metricsFormat"))
    # Whether it is a file or a folder follows from the kind of collector.
    path.text("kind")
    for each in (kinds, path, filters, source, fields):
        each.end()
    return collector


def _template(fields: Fields) -> tuple[dict[str, Any], tuple[TrialParameter, ...]]:
    parameters = []
    for each in fields.each("trialParameters"):
        name, reference = each.text("name", needed=True), each.text("reference", needed=True)
        parameters.append(TrialParameter(name=name, reference=reference, description=each.text("description")))
        each.end()
    return fields.rest(), tuple(parameters)
