"""What the driver makes of a request's stages: each is a program of its own, in the place of the request's own one.

All of them share the attempt: its limits, its log, its time. What passes from one to the next lies in the mounts that
the earlier one may write to; root, temporary files and working directory are made anew. Standard library only.
"""

from dataclasses import replace

from apps.workloads.drivers.local.linux import remove_tree
from apps.workloads.drivers.local.records import RunDirectory, RunSpec
from apps.workloads.drivers.local.volumes import HostMount
from apps.workloads.drivers.request import Mount, Stage


def stage_specs(spec: RunSpec) -> list[RunSpec]:
    """One for each stage, as if it were the run."""
    return [_of_stage(spec, stage) for stage in spec.request.stages]


def _of_stage(spec: RunSpec, stage: Stage) -> RunSpec:
    def seen(mount: HostMount) -> HostMount:
        return replace(mount, read_only=mount.target not in stage.writes)

    def asked(mount: Mount) -> Mount:
        return replace(mount, read_only=mount.target not in stage.writes)

    mounts = tuple(map(asked, spec.request.mounts))
    request = replace(spec.request, image=stage.image, argv=stage.argv, workdir="", mounts=mounts, stages=())
    return replace(spec, request=request, mounts=tuple(map(seen, spec.mounts)))


def clear_up(run: RunDirectory) -> None:
    """What a stage has left outside the mounts, before the next one starts. Raises OSError."""
    for folder in (run.root, run.temporary, run.scratch, run.ports, run.etc):
        remove_tree(folder)
