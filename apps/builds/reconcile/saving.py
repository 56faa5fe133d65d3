"""Builds whose steps are done: their machine saves the image, the owner gets it, and the program is told to end.

Each turn looks at the rows and at what the program says, so a turn that is cut off is made good by the next one: the
same layer makes the same digest, and a build gets one image. Where there is a registry, it gets it once it is there.
"""

import json
import logging

from django.db import transaction
from django.utils import translation

from apps.builds.models import Build
from apps.builds.reconcile import pushing
from apps.builds.selectors import result
from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, Unavailable
from apps.common.scoping import acting
from apps.registry import services as registry
from apps.registry.models import Image
from apps.storage.objects import write_all
from apps.storage.safe_open import open_file, writing
from apps.storage.services import root_of
from apps.tenants.actors import organisation_actor
from apps.workloads import reach
from apps.workloads import services as workloads
from apps.workloads.choices import Status
from apps.workloads.drivers.base import DriverError
from apps.workloads.drivers.images import Making
from apps.workloads.drivers.said import Code, Said
from apps.workloads.references import Reference

log = logging.getLogger(__name__)
ANSWER = "answer.json"


def save_built(actor: Actor) -> int:
    """How many were told how they end. `actor`: the system, which acts already."""
    rows = Build.objects.filter(workload__status=Status.RUNNING).select_related(
        "workload", "owner", "base", "image", "answers"
    )
    return sum(_save_one(actor, build) if _is_waiting(build) else _refuse_machine(actor, build) for build in rows)


def _refuse_machine(actor: Actor, build: Build) -> bool:
    """End at once what its machine could not save after all its steps. Whether that is so."""
    try:
        if build.problem or reach.can_save_image(build.workload):
            return False
        said = Said(Code.ROOT_NOT_KEPT)
        Build.objects.filter(pk=build.pk).update(problem=said.as_json())
        workloads.stop(actor, build.workload)
    except Conflict:  # it has just ended
        return False
    return True


def _is_waiting(build: Build) -> bool:
    told = result(build)
    return told is not None and told.done and not _is_answered(build)


def _is_answered(build: Build) -> bool:
    try:
        open(open_file(root_of(build.answers), ANSWER), "rb").close()
    except (DomainError, OSError):
        return False
    return True


def _save_one(actor: Actor, build: Build) -> bool:
    """False where its machine cannot be asked now, and while it sends the image."""
    try:
        image = build.image or _saved(actor, build)
    except Unavailable:
        return False
    except DriverError as error:
        _answer_refusal(build, error.said)
    except DomainError as error:
        with translation.override("en"):
            _answer_refusal(build, Said.plain(error.sentences))
    else:
        if image is None:
            return False
        _answer(build, True, f"Saved as {image.name}, {image.reference.rpartition('@')[2]}.")
    return True


def _saved(actor: Actor, build: Build) -> Image | None:
    """None while it is sent to the registry."""
    if build.saved:
        reference = Reference.parse(build.saved)
    else:
        reference = reach.save_image_of(build.workload, Making(**build.making))
        Build.objects.filter(pk=build.pk).update(saved=reference.name)
    if not build.repository:
        return _keep(build, reference)
    found = pushing.push(build, reference)
    if isinstance(found, Image):
        Build.objects.filter(pk=build.pk).update(image=found, sending=None)
        return found
    Build.objects.filter(pk=build.pk).update(sending={"said": found.said.as_json(), "fraction": found.fraction})
    return None


def _keep(build: Build, reference: Reference) -> Image:
    """In its owner's name, with the rights that they have now. Raises `DomainError`."""
    owner = organisation_actor(build.owner, build.organisation_id)
    with acting(owner), transaction.atomic():
        row = Build.objects.select_for_update(of=("self",)).select_related("image").get(pk=build.pk)
        if row.image is not None:
            return row.image
        image = registry.create_container_image(owner, name=build.title, base=build.base, reference=reference)
        Build.objects.filter(pk=build.pk).update(image=image)
    return image


def _answer_refusal(build: Build, said: Said) -> None:
    log.info("%s was not saved: %s", build.pk, said)
    Build.objects.filter(pk=build.pk).update(problem=said.as_json())
    _answer(build, False, f"The image was not saved: {said}")


def _answer(build: Build, saved: bool, text: str) -> None:
    with writing(root_of(build.answers), ANSWER) as file:
        write_all(file, json.dumps({"saved": saved, "text": text}).encode())
