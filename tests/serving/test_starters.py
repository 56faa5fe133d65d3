"""A model of each format that `serving-1` is for, with the script that its service begins with, on that runtime."""

import json
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings

from apps.common.scoping import acting
from apps.modelhub.choices import Format
from apps.modelhub.models import ModelVersion
from apps.registry.models import Image
from apps.registry.platform_images import ensure_platform_images
from apps.serving import services
from apps.serving.choices import DeploymentStatus
from apps.serving.example_bodies import body_for
from apps.serving.models import Service
from apps.serving.program import model_name
from apps.serving.starters import script_for
from apps.serving.suited import best
from apps.workloads.drivers.base import RuntimeImage
from apps.workloads.drivers.local import runtime
from tests.builders import World, make_world, platform
from tests.modelhub.formats import message, number, value_info
from tests.modelhub.kit import make_model, make_version, volume_with
from tests.serving.kit import Door, a_key, end_all, make_service, of, running_door, turn_until

pytestmark = pytest.mark.programs

WEIGHTS = (1.0, 0.0, 0.0, 1.0, 0.5, 0.5, 0.0, 0.0)
"""Of a product of rows of four numbers with a matrix of four rows and two columns."""
TRAIN = """
import sys
from pathlib import Path

import joblib, lightgbm, numpy as np, skops.io, xgboost
from sklearn.linear_model import LogisticRegression

place = Path(sys.argv[1])
rows = np.random.default_rng(1).normal(size=(200, 4))
labels = (rows[:, 0] > 0).astype(int)
estimator = LogisticRegression().fit(rows, labels)
for name in ("skops", "joblib", "lightgbm", "xgboost"):
    (place / name).mkdir()
(place / "skops/m.skops").write_bytes(skops.io.dumps(estimator))
joblib.dump(estimator, place / "joblib/m.joblib")
options = {"verbose": -1, "objective": "binary"}
lightgbm.train(options, lightgbm.Dataset(rows, labels), 5).save_model(place / "lightgbm/m.txt")
xgboost.train({"objective": "binary:logistic"}, xgboost.DMatrix(rows, labels), 5).save_model(place / "xgboost/m.json")
"""


def product() -> bytes:
    """As ONNX. The first dimension is free."""
    node = message(1, message(1, b"rows"), message(1, b"weights"), message(2, b"scores"), message(4, b"MatMul"))
    raw = struct.pack("<8f", *WEIGHTS)
    weights = message(5, number(1, 4), number(1, 2), number(2, 1), message(8, b"weights"), message(9, raw))
    ends = (message(11, value_info("rows", 1, "batch", 4)), message(12, value_info("scores", 1, "batch", 2)))
    graph = message(7, node, message(2, b"main"), weights, *ends)
    return number(1, 8) + graph + message(8, message(1, b""), number(2, 13))


@pytest.fixture
def world(transactional_db: None) -> Iterator[World]:
    with acting(platform()):
        ensure_platform_images()
        yield make_world()


@pytest.fixture
def door(world: World, settings: LazySettings, home: Path) -> Iterator[Door]:
    with running_door(settings) as found:
        yield found


def version_of(world: World, name: str, files: dict[str, bytes]) -> ModelVersion:
    made = make_version(world.actor, make_model(world.actor, name), volume_with(world.actor, files, name))
    assert made.is_ready, made.error
    return made


def serves(service: Service) -> bool:
    return of(service, DeploymentStatus.ACTIVE) is not None


def serve(world: World, version: ModelVersion, image: Image) -> Service:
    return make_service(world, script_for(version), name=version.model.name, model_id=version.pk, image_id=image.pk)


def test_each_format_answers_the_body_that_its_page_suggests(
    world: World, door: Door, home: Path, tmp_path: Path
) -> None:
    served: list[Service] = []
    try:
        image = Image.objects.get(key="serving-1")
        onnx = version_of(world, "product", {"m.onnx": product()})
        served.append(serve(world, onnx, image))
        turn_until(lambda: serves(served[0]), 300)
        _multiplies(world, door, onnx, served[0])
        with acting(world.actor):  # the machine has cores for four
            services.stop(world.actor, served[0].pk)
        versions = [version_of(world, folder.name, files) for folder, files in _trained(home, image, tmp_path)]
        for version in versions:
            assert best(Image.objects.all(), version) == image, "it is installed, and has what is needed"
            served.append(serve(world, version, image))
        turn_until(lambda: all(map(serves, served[1:])), 120)
        assert {version.format for version in versions} == {
            Format.SKOPS, Format.PICKLE, Format.LIGHTGBM, Format.XGBOOST,
        }  # fmt: skip
        for version, service in zip(versions, served[1:], strict=True):
            _judges(world, door, version, service)
    finally:
        for service in served:
            end_all(service)


def _trained(home: Path, image: Image, place: Path) -> Iterator[tuple[Path, dict[str, bytes]]]:
    """By the runtime's own libraries."""
    made = runtime.key(RuntimeImage(image.key, tuple(image.requirements)))
    subprocess.run([home / "runtimes" / made / "bin/python", "-c", TRAIN, place], check=True, timeout=120)
    for folder in sorted(place.iterdir()):
        yield folder, {each.name: each.read_bytes() for each in folder.iterdir()}


def _multiplies(world: World, door: Door, version: ModelVersion, service: Service) -> None:
    """By its own protocol and by the Open Inference one, which knows its tensors from the file."""
    assert door.ask(service.host, body=body_for(version), key=a_key(world, service)).status == 200
    key, path = a_key(world, service), f"/v2/models/{model_name(service.name)}"
    assert door.ask(service.host, body={"rows": [[1, 2, 3, 4]]}, key=key).json() == {"scores": [[2.5, 3.5]]}
    tensor = {"name": "rows", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}
    outputs = door.ask(service.host, f"{path}/infer", {"inputs": [tensor]}, key=key).json()["outputs"]
    assert outputs == [{"name": "scores", "datatype": "FP32", "shape": [1, 2], "data": [2.5, 3.5]}]
    told = door.ask(service.host, path, method="GET", key=key).json()
    assert told["inputs"] == [{"name": "rows", "datatype": "FP32", "shape": [-1, 4]}]
    wrong = door.ask(service.host, body={"row": [[1]]}, key=key)
    assert (wrong.status, wrong.json()) == (400, {"error": "the model's inputs are rows"})


def _judges(world: World, door: Door, version: ModelVersion, service: Service) -> None:
    answer = door.ask(service.host, body=body_for(version), key=a_key(world, service))
    assert answer.status == 200, (version.format, answer.body)
    known: Any = {"inputs": [[3.0, 0, 0, 0], [-3.0, 0, 0, 0]]}
    yes, no = door.ask(service.host, body=json.dumps(known), key=a_key(world, service)).json()["outputs"]
    assert yes > 0.5 > no, version.format
