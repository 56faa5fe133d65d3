"""One start of the search, from `search.json` to the report."""

import json
import os
import shutil
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
import skops.io

from . import judging, report, steps, table
from .predict import answer, apply_steps
from .problems import Problem
from .scoring import is_loss
from .settings import Settings
from .table import Table
from .trials import Clock, Search, Trial, as_json

FORMAT = 1
LAST_REPEATS, HURRIED_REPEATS = 5, 1
NAMED = ("scikit-learn", "pandas", "numpy", "skops", "lightgbm", "xgboost-cpu", "catboost")
MLFLOW_TYPES = {"number": "double", "truth": "boolean", "category": "string", "date": "datetime"}


class Start:
    """What one start has read, and where it writes."""

    def __init__(self, settings: Settings, output: Path, checkpoints: Path) -> None:
        self.settings, self.output, self.state = settings, output, checkpoints / "search.json"
        whole = table.read(settings)
        learn, judge = table.split(whole, settings, settings.test, settings.seed)
        self.learn, self.judge, self.notes = whole.rows(learn), whole.rows(judge), whole.notes
        self._check_parts()
        aside = frozenset({*settings.left_out, settings.group, *([settings.time] if settings.time else [])} - {""})
        self.steps = steps.decide(self.learn.x, aside)
        if all(each["do"] == "left_out" for each in self.steps):
            raise Problem("no_columns", "No column is left to learn from.")
        self.judged = apply_steps(self.judge.x, self.steps)
        before = self._before()
        self.spent_before = float(before.get("spent_s", 0)) if before.get("key") == settings.key else 0.0
        self.began = time.monotonic()
        self.clock = Clock(self.began + max(1.0, 60 * settings.minutes - self.spent_before))
        self.best: dict[str, Any] = {}
        self.search = Search(
            settings, self.learn, self.steps, apply_steps(self.learn.x, self.steps), self.clock, self.told,
            [Trial(**each) for each in before.get("trials", [])],
        )  # fmt: skip

    def _check_parts(self) -> None:
        classes = {int(each) for each in self.learn.y} if self.learn.classes else {0, 1}
        if len(classes) < 2 or not len(self.judge.y):
            raise Problem("one_sided", "The rows to learn from are of one class alone.", column=self.settings.target)

    def _before(self) -> dict[str, Any]:
        """What an earlier start of the same question left, else nothing."""
        try:
            said: dict[str, Any] = json.loads(self.state.read_text())
        except (OSError, ValueError):
            return {}
        return said if said.get("question") == self.settings.question else {}

    def run(self) -> None:
        print(f"{len(self.learn.y)} rows to learn from, {len(self.judge.y)} aside; learners: {self.search.names}")
        self.clock.listen()
        best = self.search.best()
        if best is not None:
            print(f"Goes on from {len(self.search.trials)} trials.")
            self.keep(best)
        self.search.run()
        best = self.search.best()
        if best is None:
            raise Problem("no_trial", "No trial gave a score: see the log, or give it more time.")
        hurried = self.clock.asked
        self.result["importance"] = judging.importance(
            self.model, self.judge, self.steps, self.settings, HURRIED_REPEATS if hurried else LAST_REPEATS
        )
        self.write_result()
        print(f"Done: {best.learner} leads after {len(self.search.trials)} trials.")

    def told(self, trial: Trial, leads: bool) -> None:
        """After each trial: a line that the platform reads as metrics, and everything that a stop must not lose."""
        best = self.search.best()
        if trial.score is not None and best is not None and best.score is not None:
            name = self.settings.metric
            print(f"step={trial.number} val_{name}={trial.score:.6f} best_{name}={best.score:.6f}", flush=True)
        print(f"  {trial.learner}: {trial.state} in {trial.seconds:.1f} s {trial.said}".rstrip(), flush=True)
        if leads:
            self.keep(trial)
        self.write_trials()

    def write_trials(self) -> None:
        best = self.search.best()
        rows = as_json(self.search.trials)
        _write(
            self.output / "leaderboard.json",
            {
                "format": FORMAT,
                "metric": self.settings.metric,
                "lower_is_better": is_loss(self.settings.metric),
                "best": best.number if best else None,
                "trials": rows,
            },
        )
        spent = self.spent_before + time.monotonic() - self.began
        state = {"key": self.settings.key, "question": self.settings.question, "spent_s": spent, "trials": rows}
        _write(self.state, state)

    def keep(self, trial: Trial) -> None:
        """Fit the trial that leads on all rows to learn from, judge it, and write it down."""
        self.model = self.search.fitted(trial)
        rows, frame, settings = self.judge, self.judged, self.settings
        self.result: dict[str, Any] = {
            "format": FORMAT,
            "task": settings.task,
            "target": settings.target,
            "metric": settings.metric,
            "lower_is_better": is_loss(settings.metric),
            "best": as_json([trial])[0],
            "scores": judging.scores(self.model, rows, frame, settings),
            "rows": {"learn": len(self.learn.y), "judge": len(rows.y)},
            "confusion": judging.confusion(self.model, rows, frame),
            "residuals": judging.residuals(self.model, rows, frame, settings),
            "importance": [],
            "steps": self.steps,
            "notes": self.notes,
        }
        self.write_model()
        self.write_result()

    def write_result(self) -> None:
        _write(self.output / "result.json", self.result)
        text = report.page(self.result, as_json(self.search.trials))
        _replace(self.output / "report.html", text.encode())

    def write_model(self) -> None:
        folder = self.output / "model"
        folder.mkdir(parents=True, exist_ok=True)
        signature = signature_of(self.learn, self.steps, self.settings)
        _replace(folder / "model.skops", skops.io.dumps(self.model))
        _write(folder / "signature.json", signature)
        shutil.copyfile(Path(__file__).with_name("predict.py"), folder / "predict.py")
        _replace(folder / "requirements.txt", _pins().encode())
        said = answer(self.model, self.judge.x, signature)
        true = [self.judge.classes[each] for each in self.judge.y] if self.judge.classes else self.judge.y
        rows = pd.concat([self.judge.x.assign(**{self.settings.target: true}), said], axis=1)
        _replace(self.output / "predictions.csv", rows.to_csv(index=False).encode())


def signature_of(rows: Table, recorded: list[dict[str, Any]], settings: Settings) -> dict[str, Any]:
    """What the model takes and gives, in MLflow's words for types, with the steps in between."""
    used = [each for each in recorded if each["do"] != "left_out"]
    inputs = [
        {"name": each["column"], "type": MLFLOW_TYPES[each["do"]], "required": each["missing"] == 0} for each in used
    ]
    outputs = [{"name": "prediction", "type": "string" if rows.classes else "double"}]
    outputs += [{"name": f"probability:{name}", "type": "double"} for name in rows.classes]
    return {
        "format": FORMAT,
        "task": settings.task,
        "target": settings.target,
        "classes": rows.classes,
        "inputs": inputs,
        "outputs": outputs,
        "steps": used,
    }


def _pins() -> str:
    found = []
    for name in NAMED:
        try:
            found.append(f"{name}=={version(name)}")
        except ImportError:
            continue
    return "\n".join(found) + "\n"


def _write(path: Path, value: Any) -> None:
    _replace(path, json.dumps(value, default=str).encode())


def _replace(path: Path, data: bytes) -> None:
    """All of it or what was there before, whenever the program is killed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    os.replace(part, path)


def main() -> None:
    here, output = Path(os.environ["PLSTACK_CODE"]), Path(os.environ["PLSTACK_OUTPUT"])
    settings = Settings.read(here / "search.json", os.environ["PLSTACK_WORKLOAD"])
    try:
        Start(settings, output, Path(os.environ["PLSTACK_CHECKPOINTS"])).run()
    except Problem as problem:
        problem.write(output)
        print(f"Cannot be searched: {problem}", file=sys.stderr)
        raise SystemExit(2) from problem
