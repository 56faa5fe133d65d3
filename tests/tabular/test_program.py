"""The program itself, as a run starts it: it searches, is stopped, goes on, and leaves a model that predicts."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from apps.registry.recipes.catalogue import find
from apps.tabular.choices import RUNTIME
from apps.tabular.services import PROGRAM, SCRIPT, STARTER
from apps.tracking.collecting.reading.log import LogReader, LogState

pytestmark = pytest.mark.programs
# What the platform's own environment has already, and what is too large for what it would show here.
NOT_INSTALLED = {"scikit-learn", "numpy", "xgboost-cpu", "catboost", "pyarrow"}
NEEDED = ("narwhals", "python-dateutil", "six", "prettytable", "wcwidth")
CITIES = ("Berlin", "Paris", "上海", "")


def install(folder: Path) -> Path:
    """Most of the runtime, on top of the environment that the tests run in."""
    recipe = find(RUNTIME)
    assert recipe is not None
    pins = [pin for pin in recipe.requirements if pin.partition("==")[0] not in NOT_INSTALLED]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
    subprocess.run([*pip, *pins, *NEEDED], check=True, timeout=300)
    return folder


class Desk:
    """A run's folders, and its program."""

    def __init__(self, place: Path, packages: Path) -> None:
        self.code, self.output, self.packages = place / "code", place / "output", packages
        shutil.copytree(PROGRAM, self.code / "tables", ignore=shutil.ignore_patterns("__pycache__"))
        (self.code / SCRIPT).write_text(STARTER)
        self.output.mkdir(parents=True)
        self.table = place / "people.csv"
        self.table.write_text(_people())

    def environment(self, run: str) -> Mapping[str, str]:
        return {
            **os.environ,
            "PYTHONPATH": str(self.packages),
            "PLSTACK_CODE": str(self.code),
            "PLSTACK_OUTPUT": str(self.output),
            "PLSTACK_CHECKPOINTS": str(self.output / "checkpoints"),
            "PLSTACK_WORKLOAD": run,
        }

    def told(self, **changes: Any) -> None:
        values = {
            "file": str(self.table), "target": "buys", "task": "classification", "metric": "roc_auc",
            "left_out": ["number"], "folds": 3, "holdout": 0.2, "test": 0.25, "group": "", "time": "", "minutes": 5,
            "learners": ["lightgbm", "catboost", "linear"], "seed": 1, "cpus": 1,
        }  # fmt: skip
        (self.code / "search.json").write_text(json.dumps({**values, **changes}))

    def run(self, run: str = "one", **changes: Any) -> subprocess.CompletedProcess[bytes]:
        self.told(**changes)
        argv = [sys.executable, "-u", SCRIPT]
        return subprocess.run(argv, cwd=self.code, env=self.environment(run), capture_output=True, timeout=120)

    def read(self, name: str) -> Any:
        return json.loads((self.output / name).read_text())


def _people(rows: int = 160) -> str:
    lines = ["number,age,city,joined,active,buys"]
    for at in range(rows):
        age = "" if at % 11 == 0 else str(20 + at * 7 % 50)
        joined, is_active = f"202{at % 3}-0{1 + at % 9}-1{at % 9}", "true" if at % 4 else "false"
        buys = "often" if (at * 7 % 50 > 25) ^ (at % 13 == 0) else "never"
        lines.append(f"n{at},{age},{CITIES[at % 4]},{joined},{is_active},{buys}")
    return "\n".join(lines) + "\n"


def test_the_program_does_what_a_search_promises(tmp_path: Path) -> None:
    """One test for all of it: the packages are installed once, and workers share nothing."""
    packages = install(tmp_path / "packages")
    promises = (
        it_searches_judges_goes_on_and_predicts,
        what_was_found_outlives_a_stop,
        numbers_are_foretold_in_the_order_of_time,
        what_cannot_be_searched_says_why,
    )
    for promise in promises:
        promise(Desk(tmp_path / promise.__name__, packages))


def it_searches_judges_goes_on_and_predicts(desk: Desk) -> None:
    done = desk.run(most_trials=4)
    assert done.returncode == 0, done.stderr.decode()
    board, result = desk.read("leaderboard.json"), desk.read("result.json")
    assert [each["learner"] for each in board["trials"][:2]] == ["lightgbm", "linear"]  # no CatBoost is installed
    assert len(board["trials"]) == 4
    best = max(each["score"] for each in board["trials"])
    assert board["trials"][board["best"] - 1]["score"] == best == result["best"]["score"] > 0.7
    points, _offset = LogReader(LogState()).feed(done.stdout, 0, lambda _at: 0.0, ended=True)
    assert [each.step for each in points if each.name == "val_roc_auc"] == [1, 2, 3, 4]
    did = {each["column"]: each["do"] for each in result["steps"]}
    assert did == {
        "number": "left_out", "age": "number", "city": "category", "joined": "date", "active": "truth",
    }  # fmt: skip
    assert result["importance"][0]["column"] == "age"
    assert sum(map(sum, result["confusion"]["counts"])) == result["rows"]["judge"] == 40
    _predicts(desk)
    again = desk.run("two", most_trials=6)
    assert "Goes on from 4 trials." in again.stdout.decode()
    assert desk.read("leaderboard.json")["trials"][:4] == board["trials"]
    assert len(desk.read("leaderboard.json")["trials"]) == 6


def _predicts(desk: Desk) -> None:
    """Rows of a file that no search read get what the search said of them."""
    with (desk.output / "predictions.csv").open() as file:
        said = list(csv.DictReader(file))
    told = desk.output / "rows.csv"
    with told.open("w") as file:
        writer = csv.DictWriter(file, ["age", "city", "joined", "active"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(said)
    answer = desk.output / "answer.csv"
    argv = [sys.executable, "predict.py", str(told), str(answer)]
    subprocess.run(argv, cwd=desk.output / "model", env=desk.environment("x"), check=True, timeout=60)
    with answer.open() as file:
        answered = list(csv.DictReader(file))
    assert [each["prediction"] for each in answered] == [each["prediction"] for each in said]
    assert {each["prediction"] for each in said} == {"often", "never"}


def what_was_found_outlives_a_stop(desk: Desk) -> None:
    desk.told()
    argv = [sys.executable, "-u", SCRIPT]
    with subprocess.Popen(argv, cwd=desk.code, env=desk.environment("one"), stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        next(line for line in program.stdout if line.startswith(b"step=2 "))
        program.send_signal(signal.SIGTERM)
        program.stdout.read()
        assert program.wait(60) == 0
    assert desk.read("result.json")["importance"]
    assert (desk.output / "model/model.skops").stat().st_size
    assert "<h2>Trials</h2>" in (desk.output / "report.html").read_text()
    assert len(desk.read("checkpoints/search.json")["trials"]) >= 2


def numbers_are_foretold_in_the_order_of_time(desk: Desk) -> None:
    done = desk.run(
        target="age", task="regression", metric="rmse", time="joined", learners=["linear"], most_trials=2, folds=0
    )
    assert done.returncode == 0, done.stderr.decode()
    result = desk.read("result.json")
    assert result["lower_is_better"]
    assert len(result["residuals"]["points"]) == result["rows"]["judge"]
    assert {"column": "joined", "do": "left_out", "why": "chosen"} in result["steps"]
    assert result["notes"][0]["code"] == "target_missing"


def what_cannot_be_searched_says_why(desk: Desk) -> None:
    desk.table.write_text("number,buys,city\n" + "1,yes,x\n" * 30)
    assert desk.run().returncode == 2
    assert desk.read("problem.json")["code"] == "one_class"
