"""Launchers as they really run, through the local driver, in members that share a network of their own."""

import json
import shutil
from collections.abc import Iterator
from ctypes.util import find_library

import pytest
from django.test import Client
from django.urls import reverse

from apps.common.scoping import acting
from apps.training import services
from apps.training.launchers.names import LauncherName
from apps.training.launchers.registry import inside_mount
from apps.training.models import Run
from apps.workloads import selectors
from apps.workloads.choices import TERMINAL, Status
from apps.workloads.models import Workload
from tests.builders import World, platform
from tests.training.kit import body_for, form_for, submit, text, url
from tests.workloads.loops import until

RUNS = "/api/v1/training/runs/"
needs_mpi = pytest.mark.skipif(
    not (shutil.which("mpirun") and find_library("mpi")), reason="Open MPI (Debian's openmpi-bin) is not installed"
)
MPI = """
import ctypes, os
from ctypes import byref, c_int, c_void_p
mpi = ctypes.CDLL("libmpi.so.40", ctypes.RTLD_GLOBAL)
world, whole, add = (c_void_p(ctypes.addressof(c_int.in_dll(mpi, f"ompi_mpi_{name}"))) for name in
                     ("comm_world", "int", "op_sum"))
rank, size, total = c_int(), c_int(), c_int()
mpi.MPI_Init(None, None)
mpi.MPI_Comm_rank(world, byref(rank))
mpi.MPI_Comm_size(world, byref(size))
mine = c_int(rank.value + 1)
mpi.MPI_Allreduce(byref(mine), byref(total), 1, whole, add, world)
said = f"process {rank.value} of {size.value} in m{os.environ['PLSTACK_RANK']} sums {total.value}\\n"
os.write(1, said.encode())  # in one piece: mpirun passes on what all of them print
mpi.MPI_Finalize()
"""
TF_CONFIG = """
import json, os, socket, sys
config = json.loads(os.environ["TF_CONFIG"])
own = config["cluster"]["worker"][config["task"]["index"]]
host, port = own.split(":")
server = socket.create_server(("", int(port)))  # as TensorFlow's server does: on every address
print("worker", config["task"]["index"], "at", host, socket.gethostbyname(host), flush=True)
"""


@pytest.fixture(autouse=True)
def own_inside() -> Iterator[None]:
    """The files of launchers, below this test's data."""
    inside_mount.cache_clear()
    yield
    inside_mount.cache_clear()


def ended(world: World, program: str, launcher: LauncherName, members: int = 2) -> Run:
    run = submit(world, text=program, members=members, launcher=launcher)
    with acting(platform()):
        until(run.workload, lambda workload: workload.status in TERMINAL, timeout_s=180)
    run.refresh_from_db()
    return run


def logs(run: Run) -> list[str]:
    with acting(platform()):
        attempt = selectors.current_attempt(run.workload)
        return [
            selectors.log_chunk(selectors.program(attempt, rank)).data.decode()
            for rank in range(run.workload.member_count)
        ]


@needs_mpi
@pytest.mark.programs
def test_open_mpi_starts_a_process_in_every_member_without_ssh(world: World) -> None:
    run = ended(world, MPI, LauncherName.OPENMPI, members=3)
    first, *others = logs(run)
    assert run.workload.status == Status.SUCCEEDED, (first, others)
    said = sorted(line for line in first.splitlines() if line.startswith("process"))
    assert said == [f"process {rank} of 3 in m{rank} sums 6" for rank in range(3)]


@needs_mpi
@pytest.mark.programs
def test_a_program_that_fails_under_mpirun_fails_the_run(world: World) -> None:
    run = ended(world, "import os, sys; sys.exit(5 if os.environ['PLSTACK_RANK'] == '1' else 0)", LauncherName.OPENMPI)
    assert (run.workload.status, run.workload.reason_data["code"]) == (Status.FAILED, 5)


@pytest.mark.programs
def test_tf_config_names_addresses_on_which_every_worker_can_listen(world: World) -> None:
    run = ended(world, TF_CONFIG, LauncherName.TENSORFLOW)
    assert run.workload.status == Status.SUCCEEDED, logs(run)
    assert [log.splitlines()[-1] for log in logs(run)] == ["worker 0 at m0 127.1.0.1", "worker 1 at m1 127.1.0.2"]


@pytest.mark.parametrize(
    ("launcher", "needed"),
    [
        (LauncherName.TORCHRUN, "torch"),
        (LauncherName.MINDSPORE, "mindspore"),
        (LauncherName.RAY, "ray"),
        (LauncherName.SPARK, "spark-class"),
    ],
)
@pytest.mark.programs
def test_an_image_without_the_launcher_is_told_as_such(
    world: World, alice: Client, launcher: LauncherName, needed: str
) -> None:
    run = ended(world, "import os; import mindspore" if needed == "mindspore" else "print('never')", launcher)
    assert run.workload.status == Status.FAILED
    page = text(alice.get(url("detail", run)))
    assert f"Failed: the image lacks {launcher.label}" in page, (run.workload.reason, run.workload.reason_data)
    assert f"The run is started with {launcher.label}, and {needed} is not in the image." in page
    assert alice.get(f"{RUNS}{run.pk}/").json()["failure"] == f"Failed: the image lacks {launcher.label}"


def test_an_image_with_spark_and_without_java_is_told_as_such(world: World, alice: Client) -> None:
    """What the page says; that Spark prints it is seen by whoever runs `test_frameworks` on a machine without Java."""
    run = submit(world, members=2, launcher=LauncherName.SPARK)
    with acting(platform()):
        data = {"code": 1, "detail": "JAVA_HOME is not set\nplstack: what the program needs beside it has ended"}
        Workload.objects.filter(pk=run.workload_id).update(status=Status.FAILED, reason="exit_code", reason_data=data)
    page = text(alice.get(url("detail", run)))
    assert "The run is started with Spark, and Java is not in the image." in page
    assert "Choose an image that has Java, or another launcher." in page


def test_form_api_passport_rerun_and_clone_keep_the_launcher(world: World, alice: Client) -> None:
    form = form_for(world, members="2", launcher="torchrun")
    shown = text(alice.post(reverse("training:quote"), form))
    assert "--node-rank=1" in shown
    assert alice.post(reverse("training:new"), form).status_code == 302
    body = json.dumps(body_for(world, members=2, launcher="torchrun"))
    made = alice.post(RUNS, body, content_type="application/json").json()
    assert made["launcher"] == "torchrun"
    assert [f"--node-rank={rank}" in start["argv"] for rank, start in enumerate(made["ranks"])] == [True, True]
    passport = alice.get(f"{RUNS}{made['id']}/passport/").json()
    assert (passport["launcher"], passport["ranks"]) == ("torchrun", made["ranks"])
    clone = text(alice.get(f"{reverse('training:new')}?from={made['id']}"))
    assert '<option value="torchrun" selected>' in clone
    page = text(alice.get(f"{reverse('training:detail', args=[made['id']])}?tab=settings"))
    assert "--node-rank=1" in page
    with acting(platform()):
        run = Run.objects.select_related("workload").get(pk=made["id"])
    with acting(world.actor):
        again = services.rerun(world.actor, run, key="again")
    assert again.workload.frozen_spec.ranks == run.workload.frozen_spec.ranks


@pytest.mark.parametrize(("members", "launcher"), [(1, "torchrun"), (2, "slurm")])
def test_a_launcher_that_cannot_be_is_refused(world: World, alice: Client, members: int, launcher: str) -> None:
    body = json.dumps(body_for(world, members=members, launcher=launcher))
    answer = alice.post(RUNS, body, content_type="application/json")
    assert answer.status_code == 400
    with acting(platform()):
        assert not Run.objects.exists()


def test_of_one_member_the_form_asks_for_no_launcher(world: World, alice: Client) -> None:
    form = form_for(world, members="1", launcher="torchrun")
    assert alice.post(reverse("training:new"), form).status_code == 302
    with acting(platform()):
        assert Run.objects.get().launcher == LauncherName.NONE
