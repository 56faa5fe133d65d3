"""Asking for a build: everything that can be wrong with it is found before anything is held."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError
from django.db.models import Max, Q
from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.builds import selectors
from apps.builds.cache.offering import Offer, offer, read_copied
from apps.builds.choices import KIND
from apps.builds.containerfile import FIELD
from apps.builds.destination import NOWHERE, Place, place_for
from apps.builds.equal import wait_for_equal
from apps.builds.models import Build
from apps.builds.plan import Plan, make
from apps.builds.specification import spec_of
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.registry import services as registry
from apps.registry.models import Image
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.storage.services import root_of
from apps.workloads import services as workloads
from apps.workloads.launching.request import Launch, clean_launch_name
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Workload
from apps.workloads.run_times import RunTimes
from apps.workloads.time_limits import carried

LONGEST_NAME = 50
MOST_FILES = 5000
LONGEST_S = 3600
"""Of a build whose owner sets no longest run time."""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be built. `files_id`: a folder of uploaded code. `tag`: of the version; empty for its number.

    `for_organisation`: into the organisation's own images, not the person's. `target`: the stage that is built; empty
    for the last. `without_cache`: each step is carried out, and kept for none.
    """

    containerfile: str
    files_id: UUID | None = None
    tag: str = ""
    for_organisation: bool = False
    target: str = ""
    without_cache: bool = False


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """What would be carried out of a stage. `name`: its name or number, or that of an image of which files are taken.

    `steps`: how many. `takes_of`: the names of those of which it takes files.
    """

    name: str
    base: str
    steps: int
    takes_of: tuple[str, ...]


def preview(actor: Actor, order: Order) -> list[PlannedStage]:
    """The stages that `submit` would carry out, in order; the last one makes the image. Raises `Invalid` as it does."""
    actor.require(Permission.IMAGES_USE)
    _files, plan, bases = _read(actor, order)
    names = [part.name for part in plan.parts]
    return [
        PlannedStage(
            part.name,
            base.name,
            len(part.steps),
            tuple(names[number] for number in sorted({each.part for each in part.steps if each.part is not None})),
        )
        for part, base in zip(plan.parts, bases, strict=True)
    ]


def _read(actor: Actor, order: Order) -> tuple[Folder | None, Plan, list[Image]]:
    """Uploaded files, plan, and the base of each part. Raises `Invalid`."""
    files = storage.own_folder(actor, order.files_id, FolderKind.CODE) if order.files_id else None
    plan = make(order.containerfile, storage.file_names(files, limit=MOST_FILES) if files else [], order.target)
    bases = [_base(actor, part) for part in plan.parts]
    _check_architectures(plan, bases)
    return files, plan, bases


def submit(actor: Actor, order: Order, launch: Launch) -> Build:
    """Validate, reserve, hold, freeze and queue, all or nothing. The image of `launch` says nothing.

    Raises `Invalid` (with the field; beside `containerfile` it names the line), `Conflict`, `QuotaExceeded`,
    `InsufficientFunds`, `Unavailable`; nothing is left behind.
    """
    actor.require(Permission.IMAGES_USE)
    if (made := _made(actor, launch.key)) is not None:
        return made
    launch = replace(launch, name=clean_name(launch.name), longest_s=launch.longest_s or _longest(actor))
    files, plan, bases = _read(actor, order)
    version, place = _version(actor, order, launch.name)
    if place is NOWHERE:
        registry.refuse_container_image(actor, name=f"{launch.name}:{version}")
    package = choose_package(actor, launch.package_id)
    try:
        with storage.new_folders() as folders:
            named = {"name": launch.name, "version": version, **asdict(place)}
            return _submit(actor, order, launch, plan, bases, package, files, folders, named)
    except IntegrityError as error:  # perhaps the same key, sent twice at once
        made = _made(actor, launch.key)
        if made is None:
            raise Conflict(_("Another build of this name was started at this moment. Try again.")) from error
        return made


def _version(actor: Actor, order: Order, name: str) -> tuple[int, Place]:
    """The number of the build among those of its name, and where it goes."""
    rows = Build.objects.filter(owner_id=actor.person(), name=name)
    version = (rows.aggregate(newest=Max("version"))["newest"] or 0) + 1
    place = place_for(actor, name=name, version=version, tag=order.tag, for_organisation=order.for_organisation)
    return version, place


def _longest(actor: Actor) -> int | None:
    """Within what the organisation allows."""
    return carried(actor.organisation(), KIND, RunTimes(longest_s=LONGEST_S)).longest_s


def clean_name(name: str) -> str:
    return clean_launch_name(name, longest=LONGEST_NAME, missing=_("Give the image a name."))


def _made(actor: Actor, key: str) -> Build | None:
    workload = workloads.submitted(actor, KIND, key)
    return None if workload is None else Build.objects.get(workload=workload)


def _base(actor: Actor, plan: Plan) -> Image:
    """Another organisation's looks as if it were not there."""
    found = selectors.bases(actor).filter(_named(plan.base)).first()
    if found is None:
        words = _("Line %(line)s: there is no container image “%(name)s” that you may build on.")
        hint = _("Name one of the images on offer, or push it to the registry first.")
        raise Invalid.field(FIELD, words % {"line": plan.base_line, "name": plan.base[:200]}, hint=hint)
    return found


def _check_architectures(plan: Plan, bases: Sequence[Image]) -> None:
    """There has to be a machine on which all of them run."""
    left: set[str] = set()
    for part, base in zip(plan.parts, bases, strict=True):
        wanted = set(base.architectures)
        if left and wanted and not left & wanted:
            words = _("Line %(line)s: “%(name)s” is for another architecture than the images before it.")
            raise Invalid.field(FIELD, words % {"line": part.base_line, "name": part.base[:200]})
        left = left & wanted if left and wanted else left | wanted


def _named(base: str) -> Q:
    """By its reference, its name or key, or as clients of the registry name a tag of it."""
    found = Q(reference=base) | Q(name=base) | Q(key=base)
    if base.startswith(f"{settings.REGISTRY_HOST}/"):
        repository, _colon, tag = base.removeprefix(f"{settings.REGISTRY_HOST}/").partition(":")
        called = f"{repository.partition('/')[2]}:{tag or 'latest'}"
        found |= Q(reference__startswith=f"{settings.REGISTRY_HOST}/{repository}@", name=called)
    return found


def _submit(
    actor: Actor,
    order: Order,
    launch: Launch,
    plan: Plan,
    bases: Sequence[Image],
    package: Package,
    files: Folder | None,
    folders: list[Folder],
    named: dict[str, Any],
) -> Build:
    if files is not None:
        storage.seal(files)
    frozen = storage.create_folder(actor, kind=FolderKind.CODE)
    folders.append(frozen)
    cache = _write_plan(actor, order, plan, bases, files, frozen, folders)
    answers = storage.create_folder(actor, kind=FolderKind.OUTPUT)
    folders.append(answers)
    passed_on = _passing_on(actor, plan, folders)
    spec = spec_of(package, bases, plan=frozen, files=files, answers=answers, cache=cache, passed_on=passed_on)
    workload = workloads.submit_new(actor, submission(actor, KIND, spec, package, launch))
    storage.seal(frozen)
    build: Build = Build.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        workload=workload,
        **named,
        **_told_of(plan, bases),
        containerfile=order.containerfile,
        target=order.target,
        files=files,
        plan=frozen,
        answers=answers,
        without_cache=order.without_cache,
        **({"step_keys": cache.keys, "cached": cache.cached, "kept": cache.kept} if cache else {}),
        passed_on=passed_on,
    )
    wait_for_equal(build)
    return build


def _told_of(plan: Plan, bases: Sequence[Image]) -> dict[str, Any]:
    """What the row keeps of the plan."""
    steps = [
        {"line": step.line, "text": step.text, "part": number}
        for number, part in enumerate(plan.parts)
        for step in part.steps
    ]
    stages = [{"name": part.name, "base": base.name} for part, base in zip(plan.parts, bases, strict=True)]
    return {"base": bases[-1], "steps": steps, "stages": stages, "making": asdict(plan.making)}


def _passing_on(actor: Actor, plan: Plan, folders: list[Folder]) -> Folder | None:
    """Where each part leaves what later ones take of it; None where there is one part."""
    if not plan.before:
        return None
    folder = storage.create_folder(actor, kind=FolderKind.OUTPUT)
    folders.append(folder)
    for number in range(len(plan.before)):
        (root_of(folder) / str(number)).mkdir()
    return folder


def _write_plan(
    actor: Actor,
    order: Order,
    plan: Plan,
    bases: Sequence[Image],
    files: Folder | None,
    frozen: Folder,
    folders: list[Folder],
) -> Offer | None:
    """The plan, with what the cache has of it; None where it is not asked."""
    cache, told = None, plan.as_json()
    if settings.BUILD_CACHE_BYTES and not order.without_cache:
        copied = read_copied(files, plan.all_steps)
        cache = offer(actor, bases, plan, copied, folders)
        told = plan.as_json({name: each.sha256 for name, each in copied.items()}) | {"cache": cache.told}
    storage.write_text(actor, folder=frozen, path="plan.json", text=json.dumps(told))
    return cache


def stop(actor: Actor, build: Build) -> Workload:
    return workloads.stop(actor, build.workload)
