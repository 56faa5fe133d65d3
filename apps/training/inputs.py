"""What a run reads of the output of others: mounted read-only, each under a name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Invalid
from apps.storage import services as storage
from apps.training import selectors
from apps.training.models import Run
from apps.workloads.spec import DataMount, Spec

# Below the working directory, where links stand in for mounts on a machine without a sandbox.
INPUTS = "/workspace/inputs"


@dataclass(frozen=True, slots=True)
class RunInput:
    """The output of `run_id` as `/workspace/inputs/<name>`."""

    name: str
    run_id: UUID


def with_inputs(actor: Actor, spec: Spec, inputs: Sequence[RunInput]) -> Spec:
    """The spec with these mounted. Raises `Invalid` (field `inputs`) for an output that the actor cannot see, or that
    is gone."""
    if not inputs:
        return spec
    mounts = tuple(_mount(actor, each) for each in inputs)
    return replace(spec, mounts=(*spec.mounts, *mounts), env={**spec.env, "PLSTACK_INPUTS": INPUTS})


def _mount(actor: Actor, chosen: RunInput) -> DataMount:
    run = selectors.runs(actor).filter(pk=chosen.run_id).first()
    if run is None or not storage.hold_folder(run.output):
        words = _("The output that it reads as %(name)s does not exist any more, or its owner cannot see it.")
        raise Invalid.field("inputs", words % {"name": chosen.name})
    return DataMount(run.output.relative_path, f"{INPUTS}/{chosen.name}", read_only=True)


def inputs_of(mounts: Iterable[DataMount]) -> tuple[RunInput, ...]:
    """The choice behind a spec."""
    found = {
        UUID(each.source.rpartition("/")[2]): each.target.rpartition("/")[2]
        for each in mounts
        if each.target.startswith(f"{INPUTS}/")
    }
    if not found:
        return ()
    runs = dict(Run.objects.filter(output_id__in=list(found)).values_list("output_id", "pk"))
    return tuple(RunInput(name, runs[folder_id]) for folder_id, name in found.items() if folder_id in runs)
