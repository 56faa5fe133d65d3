"""Starting training runs."""

import os
import re
from dataclasses import dataclass, replace
from uuid import UUID, uuid4

from django.conf import settings
from django.utils.translation import gettext_lazy as _

from apps.billing.caps.selectors import cap_limit
from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Invalid, NotFound
from apps.common.permissions import Permission
from apps.registry import selectors as registry
from apps.registry.models import Image
from apps.storage import services as storage
from apps.storage.choosing import Chosen, chosen_of, mounts_of
from apps.storage.models import Folder, FolderKind
from apps.storage.safe_open import open_file
from apps.training import command, selectors
from apps.training.choices import KIND
from apps.training.models import Entry, Run
from apps.workloads import services as workloads
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Workload
from apps.workloads.offers.package_options import also_of, chosen_package_id
from apps.workloads.offers.quoting import resources_of
from apps.workloads.spec import DataMount, Spec
from apps.workloads.spec import Image as SpecImage

MAX_CODE = 1 << 20
NAME = re.compile(r"[\w][\w .\-]{0,79}\Z")


@dataclass(frozen=True, slots=True)
class Request:
    """What to train. Code is `text` (written in the page, saved as `script`) or the folder that holds the upload.

    `key` makes the submission idempotent: the same key again returns the run made first. `priority`: at most one's own
    highest, which None stands for. `preemptible`: it may be asked to give way. `cluster_id`: the only logical cluster
    that it may run in. `also_ids`: others that would do. `cap_fen`: the most that it may cost. `tags`: as typed.
    """

    name: str
    image_id: UUID
    package_id: int
    entry: Entry
    script: str
    key: str
    text: str | None = None
    code_id: UUID | None = None
    arguments: tuple[tuple[str, str], ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    parent_id: UUID | None = None
    note: str = ""
    mounts: tuple[Chosen, ...] = ()
    priority: int | None = None
    preemptible: bool = True
    cluster_id: UUID | None = None
    also_ids: tuple[int, ...] = ()
    cap_fen: int | None = None
    tags: tuple[str, ...] = ()


class _Repeated(Exception):
    """The same key has started this run meanwhile: what was made for another one has to go."""

    def __init__(self, run: Run) -> None:
        self.run = run


def submit(actor: Actor, request: Request) -> Run:
    """Validate, reserve, hold, freeze and queue, all or nothing.

    Raises `Invalid` (with the field), `QuotaExceeded`, `InsufficientFunds`, `Unavailable`; nothing is left behind.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    made: Run | None = Run.objects.filter(workload__owner_id=actor.user_id, workload__submit_key=request.key).first()
    if made is not None:
        return made
    name = clean_name(request.name)
    parent = _parent(actor, request.parent_id)
    image = registry.choose(actor, request.image_id)
    package = choose_package(actor, request.package_id)
    words = command.argv(request.entry, request.script, command.clean_arguments(request.arguments))
    try:
        with storage.new_folders() as folders:
            code = _code(actor, request, parent, folders)
            output = storage.create_folder(actor, kind=FolderKind.OUTPUT)
            folders.append(output)
            return _submit(
                actor,
                request,
                name=name,
                parent=parent,
                image=image,
                package=package,
                code=code,
                output=output,
                argv=words,
            )
    except _Repeated as repeated:
        return repeated.run


def _submit(
    actor: Actor,
    request: Request,
    *,
    name: str,
    parent: Run | None,
    image: Image,
    package: Package,
    code: Folder,
    output: Folder,
    argv: tuple[str, ...],
) -> Run:
    environment = command.clean_environment(request.environment)
    data = mounts_of(actor, request.mounts)
    spec = spec_of(package, image, argv=argv, code=code, output=output, environment=tuple(environment), data=data)
    submission = _submission(request, name, spec, package, actor)
    workload = workloads.submit(actor, submission)
    if workload.pk != submission.id:
        raise _Repeated(Run.objects.get(workload=workload))
    storage.seal(code)
    family, version = _next_version(parent)
    run: Run = Run.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        workload=workload,
        name=name,
        family=family,
        version=version,
        parent=parent,
        note=request.note[:200],
        image=image,
        entry=request.entry,
        script=request.script.strip(),
        arguments=[list(row) for row in command.clean_arguments(request.arguments)],
        environment=[list(row) for row in environment],
        code=code,
        output=output,
    )
    run.refresh_from_db()
    return run


def _submission(request: Request, name: str, spec: Spec, package: Package, actor: Actor) -> workloads.Submission:
    return submission(
        actor,
        KIND,
        replace(spec, preemptible=request.preemptible, cluster=str(request.cluster_id or "") or None),
        package,
        also_ids=request.also_ids,
        name=name,
        key=request.key,
        priority=request.priority,
        cap_fen=request.cap_fen,
        tags=request.tags,
    )


def spec_of(
    package: Package,
    image: Image,
    *,
    argv: tuple[str, ...] = (),
    code: Folder | None = None,
    output: Folder | None = None,
    environment: command.Pairs = (),
    data: tuple[DataMount, ...] = (),
) -> Spec:
    """The kernel's spec of a run on `package`; code is mounted read-only, only the output folder is written to."""
    mounts = [DataMount(code.relative_path, command.CODE, True)] if code else []
    mounts += [DataMount(output.relative_path, command.OUTPUT, False, settings.RUN_OUTPUT_MIB)] if output else []
    return replace(
        resources_of(package),
        image=SpecImage(image.key, tuple(image.requirements)),
        argv=argv,
        env={
            **dict(environment),
            "PLSTACK_CODE": command.CODE,
            "PLSTACK_OUTPUT": command.OUTPUT,
            "PLSTACK_CHECKPOINTS": command.CHECKPOINTS,
        },
        mounts=(*mounts, *data),
        workdir=command.CODE,
    )


def clean_name(name: str) -> str:
    cleaned = " ".join(name.split())
    if not cleaned:
        raise Invalid.field("name", _("Give the run a name."))
    if not NAME.match(cleaned):
        raise Invalid.field(
            "name", _("A name has up to 80 letters, digits, spaces, dots, - and _, and starts with a letter or digit.")
        )
    return cleaned


def _parent(actor: Actor, parent_id: UUID | None) -> Run | None:
    if parent_id is None:
        return None
    parent: Run | None = Run.objects.filter(pk=parent_id).first()
    if parent is None or (parent.owner_id != actor.user_id and not actor.may(Permission.TRAINING_MANAGE_ALL)):
        raise NotFound
    return parent


def _code(actor: Actor, request: Request, parent: Run | None, made: list[Folder]) -> Folder:
    """The run's files: written from the page (a new folder, added to `made`), uploaded before, or the parent's own."""
    if request.text is not None:
        return _written(actor, request.script, request.text, made)
    if parent is not None and request.code_id in (None, parent.code_id):
        folder = parent.code
    elif request.code_id is not None:
        folder = storage.own_folder(actor, request.code_id, FolderKind.CODE)
    else:
        raise Invalid.field("code", _("Upload files, or write the code in the page."))
    _has_script(folder, request.script)
    return folder


def _written(actor: Actor, script: str, text: str, made: list[Folder]) -> Folder:
    if not text.strip():
        raise Invalid.field("text", _("There is no code yet."))
    if len(text.encode()) > MAX_CODE:
        raise Invalid.field("text", _("Code written in the page may have 1 MiB at most; upload it as a file."))
    folder = storage.create_folder(actor, kind=FolderKind.CODE)
    made.append(folder)
    storage.write_text(actor, folder=folder, path=script.strip(), text=text)
    return folder


def _has_script(folder: Folder, script: str) -> None:
    try:
        descriptor = open_file(storage.root_of(folder), script.strip())
    except NotFound as error:
        raise Invalid.field("script", _("There is no such file in the code. Choose one that is there.")) from error
    os.close(descriptor)


def _next_version(parent: Run | None) -> tuple[UUID, int]:
    if parent is None:
        return uuid4(), 1
    # Two clones at once would take the same number: the family's first version is the queue they stand in.
    list(Run.objects.select_for_update().filter(family=parent.family, version=1))
    return parent.family, selectors.newest_version(parent) + 1


def rerun(actor: Actor, run: Run, *, key: str) -> Run:
    """The same again as the next version: same code, arguments, image and package, at today's price."""
    again = request_of(run, key=key)
    # Since then the person's own highest priority may have been lowered.
    return submit(actor, replace(again, priority=min(run.workload.priority, workloads.highest_priority(actor))))


def request_of(run: Run, *, key: str) -> Request:
    """What `submit` needs to make `run` again; a clone changes some of it."""
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
        mounts=chosen_of(run.workload.frozen_spec.mounts),
        priority=run.workload.priority,
        preemptible=run.workload.frozen_spec.preemptible,
        cluster_id=cluster_of(run),
        cap_fen=cap_limit(run.workload_id),
        tags=tuple(run.workload.tags),
    )


def cluster_of(run: Run) -> UUID | None:
    """The logical cluster that it was bound to."""
    cluster = run.workload.frozen_spec.cluster
    return None if cluster is None else UUID(cluster)


def stop(actor: Actor, run: Run) -> Workload:
    return workloads.stop(actor, run.workload)
