"""Katib's experiments, read and written."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.early_stopping import EarlyStopping, EarlyStoppingKind
from apps.automl.search.exchange import katib
from apps.automl.search.exchange.draft import Collector, CollectorKind, Draft, ResumePolicy, TrialParameter
from apps.automl.search.exchange.fields import LARGEST, BadFile
from apps.automl.search.goals import Direction, MetricStrategy, Objective
from apps.automl.search.space import Condition, Parameter
from tests.automl.search.kit import LOSS, categorical, discrete, double, parameters, whole

TEXT = """
apiVersion: kubeflow.org/v1beta1
kind: Experiment
metadata: {name: defects, namespace: team-a}
spec:
  objective:
    type: maximize
    goal: 0.99
    objectiveMetricName: accuracy
    additionalMetricNames: [loss]
    metricStrategies: [{name: accuracy, value: max}, {name: loss, value: latest}]
  algorithm:
    algorithmName: hyperband
    algorithmSettings:
      - {name: resource_name, value: epochs}
      - {name: eta, value: "4"}
      - {name: r_l, value: "64"}
      - {name: random_state, value: "10"}
  earlyStopping:
    algorithmName: medianstop
    algorithmSettings: [{name: min_trials_required, value: "1"}, {name: start_step, value: "2"}]
  parallelTrialCount: 3
  maxTrialCount: 12
  maxFailedTrialCount: 2
  resumePolicy: FromVolume
  metricsCollectorSpec:
    source: {fileSystemPath: {path: /out/metrics.json, kind: File, format: JSON}}
    collector: {kind: File}
  parameters:
    - {name: lr, parameterType: double, feasibleSpace: {min: "1e-4", max: "0.1", distribution: logUniform}}
    - {name: layers, parameterType: int, feasibleSpace: {min: "2", max: "8", step: "2"}}
    - {name: optimizer, parameterType: categorical, feasibleSpace: {list: [sgd, adam, on]}}
    - {name: batch, parameterType: discrete, feasibleSpace: {list: ["32", "64", "0.5"]}}
    - {name: decay, parameterType: double, feasibleSpace: {min: "0", max: "1", distribution: normal}}
  trialTemplate:
    primaryContainerName: main
    trialParameters: [{name: rate, description: Learning rate, reference: lr}]
    trialSpec: {kind: Job, spec: {template: {spec: {restartPolicy: Never}}}}
"""


def test_each_field_of_an_experiment_is_read() -> None:
    draft = katib.read(TEXT).draft
    assert draft == Draft(
        name="defects",
        objectives=(Objective(metric="accuracy", direction=Direction.MAXIMIZE, goal=0.99),),
        additional_metrics=("loss",),
        strategies={"accuracy": MetricStrategy.MAX, "loss": MetricStrategy.LATEST},
        algorithm=Algorithm.HYPERBAND,
        settings={"reduction_factor": 4, "max_resource": 64},
        seed=10,
        early_stopping=EarlyStopping(kind=EarlyStoppingKind.MEDIAN, start_step=2, min_trials=1),
        parallel=3,
        max_trials=12,
        max_failed=2,
        resume_policy=ResumePolicy.FROM_VOLUME,
        parameters=(
            double("lr", 1e-4, 0.1, log=True),
            whole("layers", 2, 8, step=2),
            categorical("optimizer", "sgd", "adam", "true"),
            discrete("batch", 32, 64, 0.5),
            double("decay", 0, 1),
        ),
        collector=Collector(kind=CollectorKind.FILE, path="/out/metrics.json"),
        trial_parameters=(TrialParameter(name="rate", reference="lr", description="Learning rate"),),
        template={
            "primaryContainerName": "main",
            "trialSpec": {"kind": "Job", "spec": {"template": {"spec": {"restartPolicy": "Never"}}}},
        },
    )


def test_what_has_no_counterpart_is_told() -> None:
    assert katib.read(TEXT).ignored == (
        "metadata.namespace",
        "spec.algorithm.algorithmSettings[0].resource_name",
        "spec.parameters[4].feasibleSpace.distribution",
        "spec.metricsCollectorSpec.source.fileSystemPath.format",
    )


def changed(path: str, value: Any) -> str:
    """The experiment with another value there; without the field, where the value is None."""
    tree = yaml.safe_load(TEXT)
    at = tree
    *above, last = path.split(".")
    for name in above:
        at = at[int(name)] if name.isdigit() else at[name]
    if value is None:
        del at[last]
    else:
        at[last] = value
    return yaml.safe_dump(tree)


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("kind", "Job", ("", "not_an_experiment")),
        ("apiVersion", "kubeflow.org/v1alpha3", ("", "not_an_experiment")),
        ("spec.objective", None, ("spec.objective.type", "missing")),
        ("spec.objective.type", "upwards", ("spec.objective.type", "unknown")),
        ("spec.objective.goal", "much", ("spec.objective.goal", "wrong_type")),
        ("spec.algorithm.algorithmName", "darts", ("spec.algorithm.algorithmName", "unknown")),
        ("spec.algorithm.algorithmSettings", "eta", ("spec.algorithm.algorithmSettings", "wrong_type")),
        ("spec.earlyStopping.algorithmName", "asha", ("spec.earlyStopping.algorithmName", "unknown")),
        ("spec.parallelTrialCount", 1.5, ("spec.parallelTrialCount", "wrong_type")),
        ("spec.resumePolicy", "Always", ("spec.resumePolicy", "unknown")),
        ("spec.parameters", None, ("spec.parameters", "missing")),
        ("spec.parameters.0.parameterType", "float", ("spec.parameters[0].parameterType", "unknown")),
        ("spec.parameters.0.feasibleSpace.min", "low", ("spec.parameters[0].feasibleSpace.min", "wrong_type")),
        ("spec.parameters.3.feasibleSpace.list", ["1", "x"], ("spec.parameters[3].feasibleSpace.list", "wrong_type")),
        ("spec.metricsCollectorSpec.collector.kind", "Custom", ("spec.metricsCollectorSpec.collector.kind", "unknown")),
    ],
)
def test_what_is_wrong_is_told_with_its_place(path: str, value: Any, fault: tuple[str, str]) -> None:
    with pytest.raises(BadFile) as bad:
        katib.read(changed(path, value))
    assert fault in [(each.path, each.code) for each in bad.value.faults]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("a: [", "not_yaml"),
        ("a: &a [x]\nb: *a", "not_yaml"),
        ("!!python/object/apply:os.system [true]", "not_yaml"),
        ("[" * 5000, "not_yaml"),
        ("a: " + "9" * 5000, "not_yaml"),
        ("# " + "x" * LARGEST, "too_large"),
        ("", "not_an_experiment"),
        ("- 1", "not_an_experiment"),
    ],
)
def test_a_file_that_is_no_experiment_is_refused(text: str, code: str) -> None:
    with pytest.raises(BadFile) as bad:
        katib.read(text)
    assert [each.code for each in bad.value.faults] == [code]


WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zs", "Zl", "Zp"]), min_size=1, max_size=9)
COUNTS = st.none() | st.integers(1, 500)


@st.composite
def drafts(draw: st.DrawFn) -> Draft:
    searched: tuple[Parameter, ...] = tuple(draw(parameters(f"p{at}")) for at in range(draw(st.integers(1, 4))))
    goal = draw(st.none() | st.floats(allow_nan=False, allow_infinity=False))
    start, least = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    median = EarlyStopping(kind=EarlyStoppingKind.MEDIAN, start_step=start, min_trials=least)
    return Draft(
        name=draw(WORDS),
        objectives=(Objective(metric=draw(WORDS), direction=draw(st.sampled_from(Direction)), goal=goal),),
        additional_metrics=tuple(draw(st.lists(WORDS, max_size=3, unique=True))),
        strategies=draw(st.dictionaries(WORDS, st.sampled_from(MetricStrategy), max_size=2)),
        algorithm=draw(st.sampled_from(Algorithm)),
        seed=draw(COUNTS),
        early_stopping=draw(st.sampled_from([median, EarlyStopping()])),
        parallel=draw(COUNTS),
        max_trials=draw(COUNTS),
        max_failed=draw(COUNTS),
        resume_policy=draw(st.sampled_from(ResumePolicy)),
        parameters=searched,
        collector=Collector(
            kind=draw(st.sampled_from(CollectorKind)),
            path=draw(st.just("") | WORDS),
            patterns=tuple(draw(st.lists(WORDS, max_size=2))),
        ),
        trial_parameters=tuple(TrialParameter(name=draw(WORDS), reference=each.name) for each in searched),
        template={"trialSpec": {"kind": "Job", "count": draw(st.integers()), "words": draw(st.lists(WORDS))}},
    )


@given(drafts())
def test_what_is_written_is_read_again(draft: Draft) -> None:
    written = katib.write(draft)
    assert written.left_out == ()
    read = katib.read(written.text)
    assert (read.draft, read.ignored) == (draft, ())


def test_what_katib_has_no_field_for_is_told() -> None:
    dependent = double("momentum", 0, 1, condition=Condition(parameter="optimizer", values=("sgd",)))
    written = katib.write(
        Draft(
            name="two",
            objectives=(LOSS, Objective(metric="size", direction=Direction.MINIMIZE)),
            algorithm=Algorithm.HYPERBAND,
            settings={"min_resource": 2, "reduction_factor": 3},
            parameters=(categorical("optimizer", "sgd", "adam"), dependent),
        )
    )
    assert written.left_out == ("algorithm.min_resource", "conditions", "objectives")
    assert katib.read(written.text).draft.additional_metrics == ("size",)
