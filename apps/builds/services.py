"""Asking for a build: everything that can be wrong with it is found before anything is held."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
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
from apps.builds.models import Build
from apps.builds.plan import Plan, make
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.registry import services as registry
from apps.registry.models import Image
from apps.registry.picker import on_image
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.storage.publishing import publish
from apps.workloads import services as workloads
from apps.workloads.drivers.request import MACHINE_PYTHON
from apps.workloads.launching.request import Launch, clean_launch_name
from apps.workloads.launching.submission import choose_package, submission
from apps.workloads.models import Workload
from apps.workloads.offers.quoting import resources_of
from apps.workloads.run_times import RunTimes
from apps.workloads.spec import DataMount, Spec
from apps.workloads.time_limits import carried

CODE = Path(__file__).resolve().parent / "inside"
PLACE = "/opt/plstack-build"
LONGEST_NAME = 50
MOST_FILES = 5000
LONGEST_S = 3600
"""Of a build whose owner sets no longest run time."""
ANSWERS_MIB = 16
MIB = 1 << 20


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


def submit(actor: Actor, order: Order, launch: Launch) -> Build:
    """Validate, reserve, hold, freeze and queue, all or nothing. The image of `launch` says nothing.

    Raises `Invalid` (with the field; beside `containerfile` it names the line), `Conflict`, `QuotaExceeded`,
    `InsufficientFunds`, `Unavailable`; nothing is left behind.
    """
    actor.require(Permission.IMAGES_USE)
    if (made := _made(actor, launch.key)) is not None:
        return made
    launch = replace(launch, name=clean_name(launch.name), longest_s=launch.longest_s or _longest(actor))
    files = storage.own_folder(actor, order.files_id, FolderKind.CODE) if order.files_id else None
    plan = make(order.containerfile, storage.file_names(files, limit=MOST_FILES) if files else [], order.target)
    base = _base(actor, plan)
    version, place = _version(actor, order, launch.name)
    if place is NOWHERE:
        registry.refuse_container_image(actor, name=f"{launch.name}:{version}")
    package = choose_package(actor, launch.package_id)
    try:
        with storage.new_folders() as folders:
            named = {"name": launch.name, "version": version, **asdict(place)}
            return _submit(actor, order, launch, plan, base, package, files, folders, named)
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
    base: Image,
    package: Package,
    files: Folder | None,
    folders: list[Folder],
    named: dict[str, Any],
) -> Build:
    if files is not None:
        storage.seal(files)
    frozen = storage.create_folder(actor, kind=FolderKind.CODE)
    folders.append(frozen)
    cache = _write_plan(actor, order, plan, base, files, frozen, folders)
    answers = storage.create_folder(actor, kind=FolderKind.OUTPUT)
    folders.append(answers)
    spec = spec_of(package, base, plan=frozen, files=files, answers=answers, cache=cache)
    workload = workloads.submit_new(actor, submission(actor, KIND, spec, package, launch))
    storage.seal(frozen)
    build: Build = Build.objects.create(
        organisation_id=actor.organisation(),
        owner_id=actor.person(),
        workload=workload,
        **named,
        base=base,
        containerfile=order.containerfile,
        target=order.target,
        steps=[{"line": step.line, "text": step.text} for step in plan.steps],
        making=asdict(plan.making),
        files=files,
        plan=frozen,
        answers=answers,
        without_cache=order.without_cache,
        step_keys=cache.keys if cache else [],
        cached=cache.cached if cache else None,
        kept=cache.kept if cache else None,
    )
    return build


def _write_plan(
    actor: Actor, order: Order, plan: Plan, base: Image, files: Folder | None, frozen: Folder, folders: list[Folder]
) -> Offer | None:
    """The plan, with what the cache has of it; None where it is not asked."""
    cache, told = None, plan.as_json()
    if settings.BUILD_CACHE_BYTES and not order.without_cache:
        copied = read_copied(files, plan.steps)
        cache = offer(actor, base, plan.steps, copied, folders)
        told = plan.as_json({name: each.sha256 for name, each in copied.items()}) | {"cache": cache.told}
    storage.write_text(actor, folder=frozen, path="plan.json", text=json.dumps(told))
    return cache


def spec_of(
    package: Package,
    base: Image,
    *,
    plan: Folder | None = None,
    files: Folder | None = None,
    answers: Folder | None = None,
    cache: Offer | None = None,
) -> Spec:
    """The kernel's spec of a build on `package`."""
    mounts = [DataMount(publish(CODE, "build").name, f"{PLACE}/program")]
    if plan is not None and answers is not None:
        mounts.append(DataMount(plan.relative_path, f"{PLACE}/plan"))
        mounts.append(DataMount((files or plan).relative_path, f"{PLACE}/files"))
        mounts.append(DataMount(answers.relative_path, f"{PLACE}/answers", False, ANSWERS_MIB))
    if cache is not None:
        mounts.append(DataMount(cache.cached.relative_path, f"{PLACE}/cached"))
        mounts.append(DataMount(cache.kept.relative_path, f"{PLACE}/kept", False, _room_to_keep()))
    folders = (f"{PLACE}/{name}" for name in ("plan", "files", "answers", "cached", "kept"))
    return replace(
        on_image(resources_of(package), base),
        argv=(MACHINE_PYTHON, "-E", "-s", "-S", f"{PLACE}/program/build.py", *folders),
        mounts=tuple(mounts),
        workdir="",
        egress=True,
        builds=True,
    )


def _room_to_keep() -> int:
    """In MiB: all that the cache takes, and some for the folders."""
    return settings.BUILD_CACHE_BYTES // MIB + ANSWERS_MIB


def stop(actor: Actor, build: Build) -> Workload:
    return workloads.stop(actor, build.workload)
