"""How checkpoints are told apart by their names, times and formats."""

import json
import zipfile

import pytest

from apps.training.checkpoints import checkpoints, step_of
from apps.training.models import Run
from tests.builders import World
from tests.training.kit import submit
from tests.training.saved import end, save, saved_epochs


@pytest.fixture
def run(world: World) -> Run:
    return saved_epochs(world)


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("epoch-3.pt", ("epoch", 3)),
        ("model_epoch3.ckpt", ("epoch", 3)),
        ("epoch=3-step=200.ckpt", ("step", 200)),
        ("checkpoint-1500", ("checkpoint", 1500)),
        ("global_step100", ("globalstep", 100)),
        ("12.pt", ("", 12)),
        ("model-0005.pt", ("", 5)),
        ("best_0.95.pt", None),
        ("resnet50.pt", None),
        ("latest", None),
        ("config.json", None),
    ],
)
def test_a_name_tells_its_step(name: str, step: tuple[str, int] | None) -> None:
    assert step_of(name) == step


def test_checkpoints_are_told_apart_newest_first(run: Run) -> None:
    save(run, "epoch-3.json", b"{}", age_s=97)
    found = checkpoints(run)
    assert [(each.key, each.step, each.files) for each in found] == [
        ("epoch-3", 3, 2),
        ("epoch-2", 2, 1),
        ("epoch-1", 1, 1),
    ]
    assert found[0].size == len(b"weights") + 2


def test_what_has_no_number_goes_with_each_that_it_stood_beside(run: Run) -> None:
    save(run, "config.json", b"{}", age_s=500)
    save(run, "latest", b"epoch-3", age_s=96.9)
    by_key = {each.key: sorted(each.names) for each in checkpoints(run)}
    assert by_key["epoch-3"] == ["config.json", "epoch-3.pt", "latest"]
    assert by_key["epoch-2"] == ["config.json", "epoch-2.pt"]


def test_files_without_numbers_are_one_checkpoint(world: World) -> None:
    made = end(submit(world))
    save(made, "model.pt")
    save(made, "optimizer.pt")
    [found] = checkpoints(made)
    assert (found.key, found.step, found.files) == ("all", None, 2)


def test_whole_files_of_known_formats_are_taken(run: Run) -> None:
    with zipfile.ZipFile(save(run, "epoch-4.pt"), "w") as archive:
        archive.writestr("data", "weights")
    header = json.dumps({"w": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
    save(run, "epoch-5.safetensors", len(header).to_bytes(8, "little") + header + b"\0" * 4)
    assert [each.problem for each in checkpoints(run)] == [None] * 5
