"""What it costs to ask each algorithm of tuning for the next trial, by how many trials it has seen.

Method: five parameters (two real, one of them by its logarithm, two whole, one real in steps) with uniform random
values and a noisy quadratic as past results. One process answers one inquiry, another one eleven equal ones: a tenth of
the difference is what a further inquiry costs. Times are processor seconds of the process, so that other work on the
machine counts little; the median of `--rounds`. What the caller answers itself (PBT) has no process. CMA-ES has its
past by asking, since its state lies there.

    python -m benchmarks.tuning --rounds 3 --json
"""

import argparse
import json
import random
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from statistics import median

from apps.automl.search.algorithms import Algorithm
from apps.automl.search.goals import Direction, Objective
from apps.automl.search.inquiry import Inquiry, PastTrial, TrialState
from apps.automl.search.process import ask_all, importance, outlook
from apps.automl.search.space import Parameter, ParameterKind, Space, Value

PAST = (10, 100, 1000)
MORE = 10
SPACE = Space(
    parameters=(
        Parameter(name="rate", kind=ParameterKind.DOUBLE, low=1e-5, high=0.1, log=True),
        Parameter(name="momentum", kind=ParameterKind.DOUBLE, low=0.5, high=1),
        Parameter(name="layers", kind=ParameterKind.INT, low=1, high=12),
        Parameter(name="width", kind=ParameterKind.INT, low=8, high=1024, log=True),
        Parameter(name="dropout", kind=ParameterKind.DOUBLE, low=0, high=0.5, step=0.05),
    )
)


@dataclass(frozen=True, slots=True)
class Cost:
    """Processor seconds of a process with one inquiry, and of each further inquiry in it."""

    algorithm: str
    past: int
    first_s: float
    further_s: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    costs = [cost(algorithm, past, options.rounds) for algorithm in Algorithm for past in PAST if _asks(algorithm)]
    others = {
        f"{name}, {past} trials": median(seconds(act) for _ in range(options.rounds))
        for past in PAST
        for name, act in _others(inquiry(Algorithm.TPE, past)).items()
    }
    if options.json:
        print(json.dumps({"asks": [asdict(each) for each in costs], "others": others}))
        return
    for each in costs:
        print(f"{each.algorithm:10} {each.past:5} trials  {each.first_s:6.2f} s  {each.further_s:6.3f} s a further one")
    for name, took in others.items():
        print(f"{name:26} {took:6.2f} s")


def _asks(algorithm: Algorithm) -> bool:
    """The space has no grid."""
    return algorithm is not Algorithm.GRID


def _others(asked: Inquiry) -> dict[str, Callable[[], object]]:
    return {"importance": lambda: importance(asked), "outlook on 20": lambda: outlook(asked, 20)}


def cost(algorithm: Algorithm, past: int, rounds: int) -> Cost:
    asked = inquiry(algorithm, past)
    one = median(seconds(lambda: ask_all([asked])) for _ in range(rounds))
    many = median(seconds(lambda: ask_all([asked] * (1 + MORE))) for _ in range(rounds))
    return Cost(algorithm.value, past, one, max((many - one) / MORE, 0.0))


def seconds(act: Callable[[], object]) -> float:
    """Processor seconds of the processes that this starts, and of this one where it starts none."""
    own, before = time.process_time(), _children()
    act()
    return (_children() - before) or (time.process_time() - own)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def inquiry(algorithm: Algorithm, past: int) -> Inquiry:
    asked = Inquiry(
        space=SPACE,
        objectives=(Objective(metric="loss", direction=Direction.MINIMIZE),),
        algorithm=algorithm,
        settings={},
        seed=1,
        past=(),
        count=1,
    )
    if algorithm is not Algorithm.CMAES:
        return replace(asked, past=tuple(trial(number) for number in range(past)))
    while len(asked.past) < past:
        # A generation at once: its members do not learn from each other.
        (answer,) = ask_all([replace(asked, count=min(50, past - len(asked.past)))])
        made = [
            replace(trial(len(asked.past) + at), values=each.values, attrs=each.attrs)
            for at, each in enumerate(answer.suggestions)  # type: ignore[union-attr]
        ]
        asked = replace(asked, past=(*asked.past, *made), study_attrs=answer.study_attrs)  # type: ignore[union-attr]
    return asked


def trial(number: int) -> PastTrial:
    draw = random.Random(number)  # noqa: S311
    values: dict[str, Value] = {
        "rate": 10 ** draw.uniform(-5, -1),
        "momentum": draw.uniform(0.5, 1),
        "layers": draw.randint(1, 12),
        "width": draw.randint(8, 1024),
        "dropout": draw.randint(0, 10) * 0.05,
    }
    loss = (float(values["momentum"]) - 0.9) ** 2 + (float(values["layers"]) - 6) ** 2 / 50 + draw.gauss(0, 0.05)
    return PastTrial(number=number, values=values, state=TrialState.COMPLETE, objectives=(loss,))


if __name__ == "__main__":
    main()
