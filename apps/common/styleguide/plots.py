"""Made-up trials for the charts of many rows."""

import math

from apps.common.plots import Better, Objective, Parallel, PlotRow, Trial, TrialState, Value, axis_of, on_axis

_TRIALS = 30
_OPTIMIZERS = ("AdamW", "SGD")
_STATES = {5: TrialState.FAILED, 19: TrialState.FAILED, **dict.fromkeys((8, 9, 10, 24), TrialState.PRUNED)}
_STATES |= dict.fromkeys((28, 29, 30), TrialState.RUNNING)


def _values(number: int) -> tuple[Value, ...]:
    rate = 10 ** (-4 + 2 * (math.sin(number * 12.9) + 1) / 2)
    size = float(512 + 128 * (number * 7 % 4))
    score = 60 - 3 * abs(math.log10(rate) + 3.2) - (0 if number % 3 else 2) + size / 900
    return rate, _OPTIMIZERS[number % 3 == 0], size, None if number % 9 == 4 else 0.1 * (number % 7), score


def parallel() -> Parallel:
    names = ("lr0", "optimizer", "imgsz", "mosaic", "mAP50-95")
    columns = list(zip(*(_values(k + 1) for k in range(_TRIALS)), strict=True))
    axes = [axis_of(name, name, values) for name, values in zip(names, columns, strict=True)]
    axes[-1] = axis_of("mAP50-95", "mAP50-95", columns[-1], better=Better.HIGH)
    cells = [on_axis(axis, values) for axis, values in zip(axes, columns, strict=True)]
    rows = [PlotRow(str(k), f"#{k + 1}", values, "#") for k, values in enumerate(zip(*cells, strict=True))]
    return Parallel(tuple(axes), tuple(rows), colour="mAP50-95", across="lr0", up="mAP50-95")


def objective() -> Objective:
    trials = []
    for number in range(1, _TRIALS + 1):
        state = _STATES.get(number, TrialState.COMPLETE)
        value = _values(number)[-1] if state is TrialState.COMPLETE else None
        trials.append(Trial(number, state, value if isinstance(value, float) else None, url="#"))
    return Objective("mAP50-95", Better.HIGH, tuple(trials), goal=61.0)
