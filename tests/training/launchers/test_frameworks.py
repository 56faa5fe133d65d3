"""Launchers of large frameworks, each with its real program over two members: an all-reduce, or a job on both.

They are gigabytes, so nobody waits for them unasked: PLSTACK_LAUNCHERS names a folder in which the platform itself
builds the runtimes from the packages below and keeps them for the next time (CONTRIBUTING.md).
"""

import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from apps.common.scoping import acting
from apps.training.launchers.names import LauncherName
from apps.training.launchers.registry import inside_mount
from apps.training.models import Run
from apps.workloads import selectors
from apps.workloads.choices import TERMINAL, Status
from tests.builders import World, make_image, make_package, platform, unique
from tests.training.kit import submit
from tests.workloads.loops import until

FOLDER = os.environ.get("PLSTACK_LAUNCHERS", "")
BUILDING_S = 1800.0
TORCH_PACKAGES = ("torch==2.15.0", "numpy")
pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(not FOLDER, reason="PLSTACK_LAUNCHERS names no folder for runtimes of large frameworks"),
]
SUMS = [f"process {rank} of 2 sums 3" for rank in range(2)]
TORCH = """
import torch, torch.distributed as dist
dist.init_process_group("gloo")
total = torch.tensor([dist.get_rank() + 1])
dist.all_reduce(total)
print("process", dist.get_rank(), "of", dist.get_world_size(), "sums", total.item(), flush=True)
dist.destroy_process_group()
"""
ACCELERATE = """
import torch
from accelerate import Accelerator
own = Accelerator(cpu=True)
total = own.reduce(torch.tensor(own.process_index + 1), reduction="sum")
print("process", own.process_index, "of", own.num_processes, "sums", total.item(), flush=True)
"""
MINDSPORE = """
import mindspore, numpy
from mindspore import communication, ops
mindspore.set_device("CPU")
communication.init()
rank, size = communication.get_rank(), communication.get_group_size()
total = ops.AllReduce()(mindspore.Tensor(numpy.array([rank + 1], numpy.float32)))
print("process", rank, "of", size, "sums", int(total.asnumpy()[0]), flush=True)
"""
PADDLE = """
import paddle, paddle.distributed as dist
dist.init_parallel_env()
total = paddle.to_tensor([dist.get_rank() + 1])
dist.all_reduce(total)
print("process", dist.get_rank(), "of", dist.get_world_size(), "sums", int(total[0]), flush=True)
"""
TENSORFLOW = """
import json, os
import tensorflow as tf
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
strategy = tf.distribute.MultiWorkerMirroredStrategy()

@tf.function
def total():
    own = strategy.run(lambda: tf.constant([float(rank + 1)]))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, own, axis=None)

print("process", rank, "of", strategy.num_replicas_in_sync, "sums", int(total()[0]), flush=True)
"""
RAY = """
import os, ray
ray.init()

@ray.remote(num_cpus=1, scheduling_strategy="SPREAD")
class Worker:
    def add(self, number):
        return int(os.environ["PLSTACK_RANK"]), number + 1

workers = [Worker.remote() for _ in range(2)]
found = sorted(ray.get([worker.add.remote(number) for number, worker in enumerate(workers)]))
for rank, _number in found:
    print("process", rank, "of", len(found), "sums", sum(number for _rank, number in found), flush=True)
"""
SPARK = """
import os
from pyspark.sql import SparkSession
session = SparkSession.builder.appName("squares").getOrCreate()
squares = session.sparkContext.parallelize(range(100), 4).map(lambda n: (os.environ["PLSTACK_RANK"], n * n)).collect()
print("\\ndriver", os.environ["PLSTACK_RANK"], "at", session.sparkContext.master, flush=True)
print("in", sorted({rank for rank, _square in squares}), "sums", sum(square for _rank, square in squares), flush=True)
session.stop()
"""


@dataclass(frozen=True, slots=True)
class Case:
    launcher: LauncherName
    requirements: tuple[str, ...]
    program: str
    said: list[str]
    least: int | None = None


CASES = (
    Case(LauncherName.TORCHRUN, TORCH_PACKAGES, TORCH, SUMS),
    Case(LauncherName.TORCHRUN_ELASTIC, TORCH_PACKAGES, TORCH, SUMS),
    Case(LauncherName.TORCHRUN_ELASTIC, TORCH_PACKAGES, TORCH, SUMS, least=1),
    Case(LauncherName.ACCELERATE, (*TORCH_PACKAGES, "accelerate==1.15.0"), ACCELERATE, SUMS),
    Case(LauncherName.TENSORFLOW, ("tensorflow-cpu==2.21.0",), TENSORFLOW, SUMS),
    Case(LauncherName.PADDLE, ("paddlepaddle==3.3.1", "setuptools"), PADDLE, SUMS),
    Case(LauncherName.MINDSPORE, ("mindspore==2.10.0",), MINDSPORE, SUMS),
    Case(LauncherName.RAY, ("ray[default]==2.60.0",), RAY, SUMS),
    Case(
        LauncherName.SPARK,
        ("pyspark==4.3.0",),
        SPARK,
        ["driver 0 at spark://m0:7077", "in ['1'] sums 328350"],
    ),
)


@pytest.fixture(scope="session")
def shared_home() -> Path:
    """Kept, so that each runtime is built once."""
    home = Path(FOLDER)
    home.mkdir(parents=True, exist_ok=True)
    return home


@pytest.fixture(autouse=True)
def own_inside() -> Iterator[None]:
    """The files of launchers, below this test's data."""
    inside_mount.cache_clear()
    yield
    inside_mount.cache_clear()


def printed(run: Run) -> str:
    with acting(platform()):
        attempt = selectors.current_attempt(run.workload)
        chunks = (selectors.log_chunk(selectors.program(attempt, rank)).data for rank in range(2))
        return "\n".join(chunk.decode(errors="replace") for chunk in chunks)


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.launcher}{'-least' if case.least else ''}")
def test_its_program_runs_in_both_members(world: World, case: Case) -> None:
    if case.launcher is LauncherName.SPARK and not shutil.which("java"):
        pytest.skip("Spark needs Java (Debian's default-jre-headless)")
    with acting(platform()):
        image = make_image(unique(case.launcher), case.requirements)
        package = make_package(memory_mib=3500)
    asked = {"members": 2, "least_members": case.least, "launcher": case.launcher}
    run = submit(world, text=case.program, image_id=image.pk, package_id=package.pk, **asked)
    with acting(platform()):
        until(run.workload, lambda workload: workload.status in TERMINAL, timeout_s=BUILDING_S)
    text = printed(run)
    assert run.workload.status == Status.SUCCEEDED, (run.workload.reason, run.workload.reason_data, text[-6000:])
    assert sorted(re.findall(r"^(?:process|driver|in) .+$", text, re.MULTILINE)) == sorted(case.said), text[-6000:]
