"""What a board runs: TensorBoard on a runtime of its own, over the output folders of its runs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from apps.billing.models import Package
from apps.training.models import Run
from apps.workloads.offers.quoting import resources_of
from apps.workloads.spec import DataMount, Port, Spec
from apps.workloads.tools import tool

PORT = Port("tensorboard", 6006)
# Below the working directory, where links stand in for mounts on a machine without a sandbox.
PLACE = "/workspace"
LOGS = f"{PLACE}/runs"
RELOAD_S = 5
LONGEST_LABEL = 50


def labels(runs: Iterable[Run]) -> list[str]:
    """What TensorBoard calls each: its name and version, with a number behind those that are called alike.

    Names of runs are names of folders; four bytes a letter at most fit into the 255 that a folder's may have.
    """
    found: list[str] = []
    for run in runs:
        plain = label = f"{run.name[:LONGEST_LABEL]} v{run.version}"
        number = 1
        while label in found:
            number += 1
            label = f"{plain} ({number})"
        found.append(label)
    return found


def spec_of(package: Package, runs: Sequence[Run] = (), called: Sequence[str] = ()) -> Spec:
    """The kernel's spec of a board on `package`; `called`: the label of each run."""
    mounts = (DataMount(run.output.relative_path, f"{LOGS}/{label}") for run, label in zip(runs, called, strict=True))
    return replace(
        resources_of(package),
        image=tool("tensorboard"),
        argv=(
            *("python", "-m", "tensorboard.main", "--logdir", LOGS),
            *("--host", "127.0.0.1", "--port", str(PORT.number), "--reload_interval", str(RELOAD_S)),
        ),
        mounts=tuple(mounts),
        workdir=PLACE,
        ports=(PORT,),
    )
