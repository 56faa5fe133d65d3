"""Starting a search, and what pages and the API say of it."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.registry.models import Image
from apps.storage import services as storage
from apps.storage.models import DatasetVersion, Folder
from apps.tabular import services
from apps.tabular.choices import RUNTIME
from apps.tabular.models import TableSearch
from apps.tabular.results import Results, results_of
from apps.training import deletion
from apps.training.models import Run
from apps.workloads.choices import Status
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.tabular.kit import run_of, start, wanted_for

pytestmark = pytest.mark.django_db
REFUSED = 422
TRIAL = {"number": 1, "learner": "lightgbm", "config": {"trees": 4, "rate": 0.25}, "state": "complete", "score": 0.75,
         "spread": 0.01, "seconds": 1.5, "said": ""}  # fmt: skip
BOARD = {"format": 1, "metric": "roc_auc", "lower_is_better": False, "best": 1, "trials": [TRIAL]}
RESULT = {
    "scores": {"roc_auc": 0.8, "accuracy": None},
    "rows": {"learn": 32, "judge": 8},
    "confusion": {"classes": ["<b>setosa</b>", "virginica"], "counts": [[3, 1], [0, 4]]},
    "residuals": None,
    "importance": [{"column": "width", "mean": 0.2, "spread": 0.0}, {"column": "city", "mean": 0.1, "spread": 0.0}],
    "steps": [{"column": "unit", "do": "left_out", "why": "constant"}],
    "notes": [{"code": "target_missing", "rows": 2}, {"code": "unheard"}],
}


def write(run: Run, name: str, value: Any) -> None:
    (storage.root_of(run.output) / name).write_text(value if isinstance(value, str) else json.dumps(value))


def found(world: World, run: Run) -> Results:
    with acting(world.actor):
        return results_of(run)


def counts() -> tuple[int, ...]:
    with acting(platform()):
        return tuple(model.objects.count() for model in (TableSearch, Run, Workload, Folder))


def posted(world: World, version: DatasetVersion, **changes: Any) -> dict[str, Any]:
    values = {
        "key": uuid4().hex,
        "version": str(version.pk),
        "file": "iris.csv",
        "name": "flowers",
        "package": str(world.package.pk),
        "target": "species",
        "left_out": ["row", "code"],
        "task": "classification",
        "metric": "accuracy",
        "folds": "3",
        "holdout": "20",
        "test": "25",
        "minutes": "6",
        "learners": ["lightgbm", "linear"],
        "seed": "7",
    }
    return {**values, **changes}


class TestStarting:
    def test_a_search_is_a_run_with_the_program_and_what_it_is_told(
        self, world: World, version: DatasetVersion
    ) -> None:
        search = start(world, version, minutes=6)
        run = run_of(world, search)
        code = storage.root_of(run.code)
        told = json.loads((code / "search.json").read_text())
        assert told["file"] == "/datasets/flowers/iris.csv"
        assert {name: told[name] for name in search.settings} == search.settings
        assert (code / "tables/main.py").read_text() == (services.PROGRAM / "main.py").read_text()
        spec = run.workload.frozen_spec
        assert spec.argv[-1] == "search.py"
        assert spec.image.name == RUNTIME
        mounted = next(each for each in spec.mounts if each.target == "/datasets/flowers")
        assert (mounted.source, mounted.read_only) == (version.relative_path, True)
        assert run.workload.expected_s == 6 * 60 + services.AROUND_S

    def test_the_same_key_starts_one_search(self, world: World, version: DatasetVersion) -> None:
        key = uuid4().hex
        first = start(world, version, key=key)
        before = counts()
        assert start(world, version, key=key).pk == first.pk
        assert counts() == before

    def test_what_is_refused_leaves_nothing(self, world: World, version: DatasetVersion) -> None:
        before = counts()
        with pytest.raises(Invalid):
            start(world, version, target="unit")
        with pytest.raises(Invalid):  # by the start of the run, once the code is written
            start(world, version, name="!")
        with acting(platform()):
            Image.objects.filter(key=RUNTIME).update(active=False)
        with pytest.raises(Conflict):
            start(world, version)
        assert counts() == before

    def test_the_key_of_another_run_is_no_search(self, world: World, version: DatasetVersion) -> None:
        key = uuid4().hex
        run = run_of(world, start(world, version, key=key))
        with acting(platform()):
            TableSearch.objects.filter(family=run.family).delete()
        with acting(world.actor), pytest.raises(Conflict):
            services.start(world.actor, wanted_for(world, version, key=key))


class TestResults:
    def test_what_the_program_wrote_is_read(self, world: World, version: DatasetVersion) -> None:
        run = run_of(world, start(world, version))
        assert found(world, run) == Results()
        write(run, "leaderboard.json", BOARD)
        write(run, "result.json", RESULT)
        shown = found(world, run)
        assert shown.best is not None
        assert (shown.best.score, shown.best.values) == (0.75, (("trees", "4"), ("rate", "0.25")))
        assert shown.judgement is not None
        assert shown.judgement.scores == (("roc_auc", 0.8), ("accuracy", None))
        assert [each.percent for each in shown.judgement.importance] == [100, 50]

    def test_what_it_did_not_write_is_not_there(self, world: World, version: DatasetVersion) -> None:
        run = run_of(world, start(world, version))
        odd = json.dumps({"trials": [{**TRIAL, "state": "odd"}, {**TRIAL, "config": []}]})
        texts = ["", "[]", "{", '{"trials": 3, "best": {}}', '{"trials": [3, {"number": "x"}, null]}', odd]
        for text in texts:
            for name in ("leaderboard.json", "result.json", "problem.json"):
                write(run, name, text)
            assert found(world, run) == Results(), text

    def test_the_page_says_what_was_found(self, world: World, version: DatasetVersion, alice: Client) -> None:
        search = start(world, version)
        run = run_of(world, search)
        url = reverse("tabular:detail", args=[search.pk])
        assert "The first trials are on their way" in alice.get(url).content.decode()
        write(run, "leaderboard.json", BOARD)
        write(run, "result.json", RESULT)
        page = alice.get(url).content.decode()
        for words in (
            "0.75",
            "LightGBM",
            "By how much the metric worsens",
            "&lt;b&gt;setosa",
            "2 rows without a value",
            "Left out: it is constant",
        ):
            assert words in page, words
        assert "<b>setosa" not in page

    def test_a_table_that_could_not_be_searched_says_why(
        self, world: World, version: DatasetVersion, alice: Client
    ) -> None:
        search = start(world, version)
        run = run_of(world, search)
        write(run, "problem.json", {"code": "one_class", "parameters": {"column": "species", "least": 7}})
        with acting(platform()):
            Workload.objects.filter(pk=run.workload_id).update(status=Status.FAILED)
        page = alice.get(reverse("tabular:detail", args=[search.pk])).content.decode()
        assert "Fewer than two values of the column species come in 7 rows or more." in page

    def test_a_search_goes_with_its_runs(self, world: World, version: DatasetVersion, alice: Client) -> None:
        search = start(world, version)
        run = run_of(world, search)
        with acting(platform()):
            Workload.objects.filter(pk=run.workload_id).update(status=Status.STOPPED)
        with acting(world.actor):
            deletion.delete(world.actor, run_of(world, search))
        assert alice.get(reverse("tabular:detail", args=[search.pk])).status_code == 404
        assert "No search yet" in alice.get(reverse("tabular:list")).content.decode()


class TestPages:
    def test_a_person_chooses_a_table_and_starts(self, world: World, version: DatasetVersion, alice: Client) -> None:
        new = reverse("tabular:new")
        assert "flowers v1" in alice.get(new).content.decode()
        page = alice.get(new, {"version": str(version.pk), "file": "iris.csv"}).content.decode()
        for words in ("Another value in each row", "The same value everywhere", "Predict species", "40 rows"):
            assert words in page, words
        other = alice.get(new, {"version": str(version.pk), "file": "iris.csv", "target": "row"}).content.decode()
        assert '<option value="regression" selected>' in other
        answer = alice.post(new, posted(world, version))
        with acting(platform()):
            search = TableSearch.objects.get()
        assert answer.headers["Location"] == reverse("tabular:detail", args=[search.pk])
        assert search.settings["left_out"] == ["code", "row"]
        assert search.settings["test"] == 0.25
        assert "flowers" in alice.get(reverse("tabular:list")).content.decode()

    def test_a_refusal_stands_on_the_page_with_all_that_was_typed(
        self, world: World, version: DatasetVersion, alice: Client
    ) -> None:
        refusals: list[tuple[dict[str, Any], str]] = [
            ({"target": "unit"}, "This column has the same value in each row"),
            ({"file": "small.csv"}, "The table has 3 rows; a search needs at least 20."),
            ({"task": "regression", "metric": "rmse"}, "This column holds no numbers"),
            ({"name": ""}, "Give the search a name."),
            ({"learners": []}, "Choose at least one learner."),
            ({"minutes": "0"}, "greater than or equal to 1"),
            ({"package": "999999"}, "Choose one of the packages."),
            ({"version": str(uuid4())}, "Choose a version of a dataset that you can see."),
        ]
        before = counts()
        for changes, words in refusals:
            answer = alice.post(reverse("tabular:new"), {**posted(world, version), **changes})
            assert answer.status_code == REFUSED
            assert words in answer.content.decode()
        assert counts() == before

    def test_the_quote_says_what_the_minutes_cost(self, world: World, version: DatasetVersion, alice: Client) -> None:
        # 3.60 yuan an hour.
        quote = alice.post(reverse("tabular:quote"), posted(world, version, minutes="30")).content.decode()
        assert "Searching for 30 min" in quote
        assert "¥1.80" in quote
        half_typed = alice.post(reverse("tabular:quote"), {"package": "x", "minutes": "x"})
        assert half_typed.status_code == 200


class TestApi:
    def test_start_read_and_stop(self, world: World, version: DatasetVersion, alice: Client) -> None:
        body = {
            "name": "flowers", "version": str(version.pk), "file": "iris.csv", "package": world.package.pk,
            "target": "species", "task": "classification", "metric": "log_loss", "left_out": ["code"],
        }  # fmt: skip
        answer = alice.post("/api/v1/tabular/searches/", body, content_type="application/json")
        assert answer.status_code == 201, answer.content
        made = answer.json()
        assert (made["target"], made["status"], made["dataset_number"]) == ("species", "queued", 1)
        url = f"/api/v1/tabular/searches/{made['id']}/"
        assert alice.get(f"{url}results/").json() == {"leaderboard": None, "result": None, "problem": None}
        assert alice.post(f"{url}stop/").json()["status"] == "stopped"
        assert [each["id"] for each in alice.get("/api/v1/tabular/searches/").json()["results"]] == [made["id"]]
        refused = alice.post("/api/v1/tabular/searches/", {**body, "folds": 1}, content_type="application/json")
        assert refused.status_code == 400
        assert "folds" in refused.content.decode()

    def test_the_preview_says_what_the_form_shows(self, version: DatasetVersion, alice: Client) -> None:
        asked = {"version": str(version.pk), "file": "iris.csv", "target": "species"}
        found = alice.get("/api/v1/tabular/preview/", asked).json()
        assert (found["task"], found["leaky"], found["rows"]) == ("classification", ["code"], 40)
        assert found["columns"][0]["warnings"] == ["id_like"]

    def test_a_stranger_sees_none_of_it(self, world: World, version: DatasetVersion, charlie: Client) -> None:
        search = start(world, version)
        asked = {"version": str(version.pk), "file": "iris.csv"}
        assert charlie.get("/api/v1/tabular/preview/", asked).status_code == 404
        assert charlie.get(f"/api/v1/tabular/searches/{search.pk}/results/").status_code == 404
        before = counts()
        assert charlie.post(reverse("tabular:new"), posted(world, version)).status_code == REFUSED
        assert counts() == before
