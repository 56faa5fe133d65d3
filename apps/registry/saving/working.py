"""The loop that saves work as images and has them sent: each turn looks at the rows, so that whoever dies is made good.

A machine saves and sends; the same changes make the same digest, and what the registry has is not sent again. The tag
is chosen once, when it is asked for, so that nothing gets there twice.
"""

import logging
from datetime import timedelta
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.common.clock import db_now
from apps.common.errors import Conflict, Denied, Unavailable
from apps.registry.choices import SavingProblem as Problem
from apps.registry.choices import SavingStatus
from apps.registry.distribution import documents, sending
from apps.registry.distribution.capacity import OverCapacity
from apps.registry.distribution.sending import Sending, TagTaken
from apps.registry.models import Image, ImageRepository, ImageSaving, ManifestBlob
from apps.registry.saving import recording, states
from apps.registry.saving.recording import Event
from apps.registry.saving.selectors import due
from apps.workloads import reach
from apps.workloads.choices import Status
from apps.workloads.drivers.base import DriverError
from apps.workloads.drivers.said import Code, Said
from apps.workloads.references import Reference
from apps.workloads.selectors import current_attempt

PATIENCE_H = 24
"""How long registry and machine may be away."""
PAUSE_S = 10.0
MOST_TRIES = 10
log = logging.getLogger(__name__)


class Failed(Exception):
    """Why it will not get there: `problem` with the parameters of its words, and what the machine said."""

    def __init__(self, problem: Problem, said: Said | None = None, **params: Any) -> None:
        super().__init__(problem.value)
        self.problem, self.said, self.params = problem, said, params


def advance() -> int:
    """A turn for each that is due; how many. Call in the platform's scope."""
    return sum(step(saving_id) for saving_id in due())


def step(saving_id: UUID) -> bool:
    saving = states.claim(saving_id)
    if saving is None:
        return False
    try:
        _save(saving) if saving.status == SavingStatus.QUEUED else _send(saving)
    except Unavailable:  # the registry's `RegistryAway` is one
        _wait(saving)
    except Failed as failure:
        _end_failed(saving, failure)
    return True


def _save(saving: ImageSaving) -> None:
    """Its machine makes the image. Raises Failed, `Unavailable`."""
    if saving.cancelled_by_id is not None:
        states.stop(saving)
        return
    _require_push(saving)
    workload = saving.workload
    attempt = None if workload is None else current_attempt(workload)
    if workload is None or workload.status != Status.RUNNING or attempt is None or attempt.pk != saving.attempt_id:
        raise Failed(Problem.NOT_RUNNING)
    try:
        reference = reach.save_image_of(workload)
    except Conflict as error:
        raise Failed(Problem.NOT_RUNNING) from error
    except DriverError as error:
        raise Failed(Problem.NOT_SAVED, error.said) from error
    states.saved(saving, reference.name)


def _send(saving: ImageSaving) -> None:
    """One turn of sending. Raises Failed, `Unavailable`."""
    parcel = parcel_of(saving)
    if saving.cancelled_by_id is not None:
        _end_cancelled(saving, parcel)
        return
    try:
        _require_push(saving)
        _require_repository(saving)
        if not saving.begun:
            _reserve(saving, parcel)
        found = sending.push(parcel, begun=saving.begun)
    except DriverError as error:
        _refused(saving, error)
    except TagTaken as error:
        raise Failed(Problem.TAG_TAKEN, tag=saving.tag) from error
    except Denied as error:
        raise Failed(Problem.MAY_NOT_PUSH) from error
    except Conflict as error:
        raise Failed(Problem.NOT_TAKEN, Said.plain(str(error.message))) from error
    else:
        if isinstance(found, Image):
            _succeed(saving)
            return
        if not saving.begun:
            states.begin(saving)
        states.progress(saving, found.said.as_json(), found.fraction)


def _end_cancelled(saving: ImageSaving, parcel: Sending) -> None:
    """It may have got there before its machine heard of it: then it is there."""
    if not _is_withdrawn(saving, parcel):
        states.look_again(saving)
    elif not _has_arrived(saving, parcel):
        states.stop(saving)


def _end_failed(saving: ImageSaving, failure: Failed) -> None:
    """Once nothing of it is being sent any more, and unless all of it had been sent by then."""
    try:
        if saving.image:
            parcel = parcel_of(saving)
            if not _is_withdrawn(saving, parcel):
                states.look_again(saving)
                return
            if _has_arrived(saving, parcel):
                return
    except Unavailable:
        _wait(saving)
    else:
        _fail(saving, failure)


def _has_arrived(saving: ImageSaving, parcel: Sending) -> bool:
    """Then it has succeeded, whatever was about to be said of it. Raises `Unavailable`."""
    if not sending.is_there(parcel):
        return False
    try:
        sending.arrived(parcel)
    except TagTaken:  # in this very moment
        return False
    _succeed(saving)
    return True


def _is_withdrawn(saving: ImageSaving, parcel: Sending) -> bool:
    """Also where its machine is none that sends any more."""
    try:
        return sending.withdraw(parcel)
    except (Conflict, DriverError) as error:
        log.warning("%s was not withdrawn: %s", saving, error)
        return True


def _require_push(saving: ImageSaving) -> None:
    try:
        allowed = sending.may_push(saving.owner, saving.organisation_id, saving.repository_name)
    except Denied as error:
        raise Failed(Problem.MAY_NOT_PUSH) from error
    if not allowed:
        raise Failed(Problem.MAY_NOT_PUSH)


def _require_repository(saving: ImageSaving) -> None:
    """One that was there when it was asked for is not made anew behind the back of who has deleted it."""
    if not saving.is_new and not ImageRepository.objects.filter(name=saving.repository_name).exists():
        raise Failed(Problem.REPOSITORY_GONE, repository=saving.repository_name)


def _reserve(saving: ImageSaving, parcel: Sending) -> None:
    """Room for what the organisation does not keep yet. Raises Failed, DriverError."""
    document = documents.read(sending.manifest_of(parcel))
    sizes = {blob.digest: blob.size for blob in document.blobs}
    there = ManifestBlob.objects.filter(organisation_id=saving.organisation_id, digest__in=sizes)
    added = sum(sizes[digest] for digest in sizes.keys() - set(there.values_list("digest", flat=True)))
    try:
        states.reserve(saving, added)
    except OverCapacity as error:
        raise _over(error, added) from error


def _over(error: OverCapacity, added: int) -> Failed:
    capacity = error.capacity
    return Failed(Problem.OVER_CAPACITY, added=added, used=capacity.used + capacity.reserved, limit=capacity.limit)


def _refused(saving: ImageSaving, error: DriverError) -> None:
    """What the machine could not send: later again, or never. Raises Failed."""
    log.info("%s was not sent: %s", saving, error)
    if error.said.code is Code.REGISTRY_UNREACHABLE:
        _wait(saving)
    elif not saving.begun:  # its image is not there to be sent
        raise Failed(Problem.NOT_SAVED, error.said)
    elif _is_final(error.said) or saving.tries + 1 >= MOST_TRIES:
        raise Failed(Problem.NOT_TAKEN, error.said)
    else:
        states.wait(saving, PAUSE_S, tried=True)


def _is_final(said: Said) -> bool:
    """Whether the registry refuses it, and not only a token that has become too old on the way."""
    return said.code is Code.PUSH_REFUSED and said.params.get("status") != HTTPStatus.UNAUTHORIZED


def _wait(saving: ImageSaving) -> None:
    if saving.waits_since is None or db_now() - saving.waits_since < timedelta(hours=PATIENCE_H):
        states.wait(saving, PAUSE_S)
    else:
        _fail(saving, Failed(Problem.TOO_LONG_AWAY, hours=PATIENCE_H))


def _succeed(saving: ImageSaving) -> None:
    with transaction.atomic():
        if states.succeed(saving):
            recording.note(recording.owner_of(saving), saving, Event.DONE, {"digest": saving.digest})
            recording.tell_owner(saving, saved=True)


def _fail(saving: ImageSaving, failure: Failed) -> None:
    with transaction.atomic():
        said = failure.said.as_json() if failure.said else None
        if states.fail(saving, failure.problem, failure.params, said):
            problem = {"problem": failure.problem.value}
            recording.note(recording.owner_of(saving), saving, Event.FAILED, problem)
            recording.tell_owner(saving, saved=False)


def parcel_of(saving: ImageSaving) -> Sending:
    image = Reference.parse(saving.image)
    where = (saving.repository_name, saving.tag)
    return Sending(saving.attempt, image, *where, saving.owner, saving.organisation_id)
