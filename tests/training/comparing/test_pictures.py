"""Pictures of the same name in the outputs of compared runs."""

from pathlib import Path

import pytest
from django.urls import reverse

from apps.storage.services import root_of
from apps.training.comparing import pictures as module
from apps.training.comparing.pictures import pictures
from apps.training.models import Run
from tests.builders import World, signed_in
from tests.training.kit import submit, text

pytestmark = pytest.mark.django_db


def run_with(world: World, name: str, *paths: str) -> Run:
    run = submit(world, name=name)
    for path in paths:
        file: Path = root_of(run.output) / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"\x89PNG")
    return run


def test_pictures_that_two_have_stand_beside_each_other(world: World) -> None:
    runs = [
        run_with(world, "a", "roc.png", "plots/cm.png", "only.png", "notes.txt"),
        run_with(world, "b", "plots/cm.png", "notes.txt"),
        run_with(world, "c", "roc.png", "plots/cm.png", "drawing.svg"),
    ]
    found = pictures(runs)
    assert [row.path for row in found.rows] == ["plots/cm.png", "roc.png"]
    assert [bool(url) for url in found.rows[1].urls] == [True, False, True]
    assert found.complete
    page = signed_in(world.alice).get(reverse("training:compare_outputs"), {"run": [str(run.pk) for run in runs]})
    assert "plots%2Fcm.png&amp;show=1" in text(page)
    assert signed_in(world.alice).get(found.rows[0].urls[1])["Content-Type"] == "image/png"


def test_no_more_files_are_looked_at_than_the_limit(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 1)
    runs = [run_with(world, name, "a.png", "b.png") for name in ("a", "b")]
    assert not pictures(runs).complete


def test_runs_without_a_common_picture_say_so(world: World) -> None:
    runs = [run_with(world, "a", "a.png"), run_with(world, "b")]
    page = signed_in(world.alice).get(reverse("training:compare_outputs"), {"run": [str(run.pk) for run in runs]})
    assert "No picture has the same name" in text(page)
