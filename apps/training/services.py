"""Starting training runs."""

from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import IntegrityError
from django.utils.translation import gettext_lazy as _

from apps.billing.caps.selectors import cap_limit
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry import selectors as registry
from apps.registry.models import Image
from apps.registry.picker import on_image
from apps.secrets import choosing
from apps.storage import services as storage
from apps.storage.choosing import Chosen, chosen_mounts, mounts_of
from apps.storage.models import Folder, FolderKind
from apps.tracking.collecting.settings import READ_ALL, MetricSettings, clean_patterns
from apps.training import command, forking, selectors
from apps.training.choices import KIND
from apps.training.code_folders import require_script, write_code
from apps.training.continuing import SAME, Resume, Start, Taken, record, take
from apps.training.inputs import RunInput, inputs_of, with_inputs
from apps.training.launchers.names import LauncherName
from apps.training.launchers.starting import named_ports, with_launcher
from apps.training.models import Entry, Run
from apps.training.seeds import seed_variables
from apps.workloads import services as workloads
from apps.workloads.launching.request import Launch, clean_launch_name
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Workload
from apps.workloads.offers.package_options import also_of, chosen_package_id
from apps.workloads.offers.quoting import resources_of
from apps.workloads.run_times import RunTimes
from apps.workloads.spec import DataMount, Spec
from apps.workloads.time_limits import carried

LONGEST_NAME = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Request(Launch):
    """What to train. Code is `text` (written in the page, saved as `script`) or the folder that holds the upload.

    `fork_of`: a colleague's run, as its passport has it. `priority`: at most one's own highest, which None stands for.
    `members`: how many programs start together, each on the whole package; where there is no room for all of them,
    `least_members` will do, unless it is None. `launcher` says what each of them starts.
    `resume`: the checkpoint that it goes on from; its run is the parent where none is named, but for a trial of the
    experiment `trial_of` and a step of the pipeline's run `step_of`, which are runs of their own. `array_line_id`: of
    which line of an array it is a try. `inputs`: outputs of other runs that it reads.
    """

    entry: Entry
    script: str
    text: str | None = None
    code_id: UUID | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    parent_id: UUID | None = None
    mounts: tuple[Chosen, ...] = ()
    priority: int | None = None
    members: int = 1
    least_members: int | None = None
    launcher: LauncherName = LauncherName.NONE
    secrets: tuple[choosing.ChosenSecret, ...] = ()
    resume: Resume | None = None
    fork_of: UUID | None = None
    metrics: MetricSettings = READ_ALL
    trial_of: UUID | None = None
    step_of: UUID | None = None
    array_line_id: int | None = None
    inputs: tuple[RunInput, ...] = ()


def submit(actor: Actor, request: Request) -> Run:
    """Validate, reserve, hold, freeze and queue, all or nothing.

    Raises `Invalid` (with the field), `QuotaExceeded`, `InsufficientFunds`, `Unavailable`; nothing is left behind.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    made = _made(actor, request.key)
    if made is not None:
        return made
    patterns = clean_patterns(request.metrics.patterns)
    request = replace(request, name=clean_name(request.name), metrics=replace(request.metrics, patterns=patterns))
    source = _parent(actor, request.resume.run_id, deleted=True) if request.resume else None
    parent = _parent(actor, request.parent_id) or (None if request.trial_of or request.step_of else source)
    origin = forking.forked(actor, request.fork_of)
    image = registry.choosable_image(actor, request.image_id, containers=True)
    package = choose_package(actor, request.package_id)
    words = command.argv(request.entry, request.script, command.clean_arguments(request.arguments))
    try:
        with storage.new_folders() as folders:
            code = _code(actor, request, parent, origin, folders)
            output = storage.create_folder(actor, kind=FolderKind.OUTPUT)
            folders.append(output)
            taken = take(actor, source, request.resume.checkpoint, folders) if source and request.resume else None
            return _submit(
                actor, request, parent=parent, image=image, package=package, code=code, output=output, taken=taken,
                argv=words,
            )  # fmt: skip
    except IntegrityError:  # perhaps the same key, sent twice at once
        made = _made(actor, request.key)
        if made is None:
            raise
        return made


def _made(actor: Actor, key: str) -> Run | None:
    """What the key has started before; `KeyReused` where that was work of another kind."""
    workload = workloads.submitted(actor, KIND, key)
    return None if workload is None else Run.objects.get(workload=workload)


def _submit(
    actor: Actor,
    request: Request,
    *,
    parent: Run | None,
    image: Image,
    package: Package,
    code: Folder,
    output: Folder,
    taken: Taken | None,
    argv: tuple[str, ...],
) -> Run:
    seeds = seed_variables(parent or forking.forked(actor, request.fork_of))
    variables = (*seeds.items(), *command.clean_environment(request.environment))
    plain = spec_of(package, image, argv=argv, code=code, output=output, environment=variables)
    spec = _completed(actor, request, plain, taken)
    asked = submission(actor, KIND, spec, package, request, priority=request.priority)
    workload = workloads.submit_new(actor, asked)
    storage.seal(code)
    run: Run = Run.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        workload=workload,
        name=request.name,
        **_next_version(parent),
        forked_from_id=request.fork_of,
        note=request.note[:200],
        image=image,
        entry=request.entry,
        launcher=request.launcher,
        metric_settings=request.metrics.as_json(),
        trial_of=request.trial_of,
        step_of=request.step_of,
        array_line_id=request.array_line_id,
        **command.typed(request.script, request.arguments, request.environment),
        code=code,
        output=output,
    )
    record(run, taken)
    return run


def _completed(actor: Actor, request: Request, spec: Spec, taken: Taken | None) -> Spec:
    """With what only a start has: its data, members, the secrets that they are given, the checkpoint that they find."""
    mounts = (*spec.mounts, *mounts_of(actor, request.mounts))
    references = choosing.references_of(actor, request.secrets, variables=spec.env)
    spec = replace(spec, mounts=mounts, secrets=references, copies=(taken.mount,) if taken is not None else ())
    spec = with_inputs(actor, spec, request.inputs)
    return with_launcher(replace(spec, members=request.members, least_members=request.least_members), request.launcher)


def spec_of(
    package: Package,
    image: Image,
    *,
    argv: tuple[str, ...] = (),
    code: Folder | None = None,
    output: Folder | None = None,
    environment: command.Pairs = (),
) -> Spec:
    """The kernel's spec of a run on `package`; code is mounted read-only, only the output folder is written to."""
    mounts = [DataMount(code.relative_path, command.CODE, True)] if code else []
    mounts += [DataMount(output.relative_path, command.OUTPUT, False, settings.RUN_OUTPUT_MIB)] if output else []
    return replace(
        on_image(resources_of(package), image),
        argv=argv,
        env={
            **dict(environment),
            "PLSTACK_CODE": command.CODE,
            "PLSTACK_OUTPUT": command.OUTPUT,
            "PLSTACK_CHECKPOINTS": command.CHECKPOINTS,
        },
        mounts=tuple(mounts),
        workdir=command.CODE,
    )


def clean_name(name: str) -> str:
    return clean_launch_name(name, longest=LONGEST_NAME, missing=_("Give the run a name."))


def _parent(actor: Actor, parent_id: UUID | None, *, deleted: bool = False) -> Run | None:
    """`deleted`: a deleted one will do, whose checkpoint was kept by who went on from it."""
    if parent_id is None:
        return None
    parent: Run | None = Run.objects.filter(pk=parent_id).first()
    if (
        parent is None
        or (parent.deleted_at and not deleted)
        or (parent.owner_id != actor.user_id and not actor.may(Permission.TRAINING_MANAGE_ALL))
    ):
        raise NotFound
    return parent


def _code(actor: Actor, request: Request, parent: Run | None, origin: Run | None, made: list[Folder]) -> Folder:
    """The run's files: written from the page (a new folder, added to `made`), uploaded before, or the parent's own; of
    a run that is forked where its code may be had."""
    if request.text is not None:
        return write_code(actor, request.script, request.text, made)
    if parent is not None and request.code_id in (None, parent.code_id):
        folder = parent.code
    elif origin is not None and request.code_id in (None, origin.code_id) and forking.takes_code(actor, origin):
        folder = origin.code
    elif request.code_id is not None:
        folder = storage.own_folder(actor, request.code_id, FolderKind.CODE)
    else:
        raise Invalid.field("code", _("Upload files, or write the code in the page."))
    storage.hold_folder(folder)
    require_script(folder, request.script)
    return folder


def _next_version(parent: Run | None) -> dict[str, Any]:
    """Its columns of a run."""
    if parent is None:
        return {"family": uuid4(), "version": 1}
    # Two clones at once would take the same number: the family's first version is the queue they stand in.
    list(Run.objects.select_for_update().filter(family=parent.family, version=1))
    return {"family": parent.family, "version": selectors.newest_version(parent) + 1, "parent": parent}


def rerun(actor: Actor, run: Run, *, key: str, start: Start = SAME, **changes: Any) -> Run:
    """The same again as the next version: same code, arguments, image and package, at today's price.

    `start`: from where. `changes`: fields of the request that are another than the run's. Raises `Invalid` that names
    secrets that the actor may not use, the checkpoint, or the image.
    """
    choosing.refuse_lost(actor, run.workload.frozen_spec.secrets)
    registry.refuse_unshared(actor, run.image)
    again = replace(request_of(run, key=key), resume=start.resume(run))
    # Since then the person's own highest priority may have been lowered.
    priority = min(run.workload.priority, workloads.highest_priority(actor))
    return submit(actor, replace(again, **{"priority": priority, **changes}))


def request_of(run: Run, *, key: str) -> Request:
    """What `submit` needs to make `run` again, within what may run now; a clone changes some of it."""
    workload = run.workload
    times = RunTimes(workload.expected_s, workload.longest_s, workload.gpu_idle_minutes)
    return Request(
        name=run.name,
        image_id=run.image_id,
        package_id=chosen_package_id(run.workload),
        also_ids=also_of(run.workload),
        entry=Entry(run.entry),
        script=run.script,
        key=key,
        code_id=run.code_id,
        arguments=tuple((name, value) for name, value in run.arguments),
        environment=tuple((name, value) for name, value in run.environment),
        parent_id=run.pk,
        note=run.note,
        mounts=chosen_mounts(run.workload.frozen_spec.mounts),
        priority=run.workload.priority,
        preemptible=run.workload.frozen_spec.preemptible,
        cluster_id=cluster_of(run),
        cap_fen=cap_limit(run.workload_id),
        tags=tuple(run.workload.tags),
        **asdict(carried(run.organisation_id, KIND, times)),
        secrets=choosing.chosen_of(run.workload.frozen_spec.secrets),
        members=workload.member_count,
        least_members=workload.frozen_spec.least_members,
        launcher=LauncherName(run.launcher),
        ports=named_ports(run.workload.frozen_spec, LauncherName(run.launcher)),
        resume=SAME.resume(run),
        metrics=MetricSettings.from_json(run.metric_settings),
        array_line_id=run.array_line_id,
        inputs=inputs_of(run.workload.frozen_spec.mounts),
    )


def cluster_of(run: Run) -> UUID | None:
    """The logical cluster that it was bound to."""
    cluster = run.workload.frozen_spec.cluster
    return None if cluster is None else UUID(cluster)


def stop(actor: Actor, run: Run) -> Workload:
    return workloads.stop(actor, run.workload)
