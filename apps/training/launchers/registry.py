"""Every launcher by its name, and what a run with one starts."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from apps.storage.publishing import publish
from apps.training.launchers import clusters, frameworks, mpi, torch
from apps.training.launchers.base import INSIDE, Argv, Launcher, Team
from apps.training.launchers.names import LauncherName
from apps.workloads.spec import DataMount, RankStart

CODE = Path(__file__).resolve().parent / "inside"


def _alike(team: Team, program: Argv) -> tuple[RankStart, ...]:
    return tuple(RankStart(program) for _name in team.names)


_ALL = (
    Launcher(LauncherName.NONE, _alike, least=1, elastic=True),
    Launcher(LauncherName.TORCHRUN, torch.torchrun, module="torch", package="torch"),
    Launcher(
        LauncherName.TORCHRUN_ELASTIC,
        torch.torchrun_elastic,
        module="torch",
        package="torch",
        needs_inside=True,
        elastic=True,
    ),
    Launcher(LauncherName.ACCELERATE, torch.accelerate, module="accelerate", package="accelerate"),
    Launcher(LauncherName.OPENMPI, mpi.openmpi, program="mpirun", package="openmpi-bin", needs_inside=True),
    Launcher(LauncherName.TENSORFLOW, frameworks.tensorflow, module="tensorflow", package="tensorflow"),
    Launcher(LauncherName.PADDLE, frameworks.paddle, module="paddle", package="paddlepaddle", needs_inside=True),
    Launcher(LauncherName.MINDSPORE, frameworks.mindspore, module="mindspore", package="mindspore", needs_inside=True),
    Launcher(
        LauncherName.RAY, clusters.ray, program="ray", package="ray", needs_inside=True, ports=(clusters.DASHBOARD,)
    ),
    Launcher(
        LauncherName.SPARK,
        clusters.spark,
        program="spark-class",
        package="pyspark",
        needs_inside=True,
        ports=(clusters.SPARK_PAGES,),
        needs=("Java", "JAVA_HOME is not set"),
    ),
)
LAUNCHERS: Mapping[LauncherName, Launcher] = {launcher.name: launcher for launcher in _ALL}
ELASTIC = tuple(launcher.name for launcher in _ALL if launcher.elastic)
"""With these it may be said how few members go on where there is no room for all."""


@cache
def inside_mount() -> DataMount:
    """What some launchers need beside the program, read-only at `INSIDE`."""
    return DataMount(publish(CODE, "launchers").name, INSIDE, True)
