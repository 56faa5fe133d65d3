"""The loop that starts the further runs of arrays, each as its owner, with the rights, quota and balance of now."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import translation

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Denied, DomainError, Frozen, InsufficientFunds, NotFound, QuotaExceeded, Unavailable
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.notifications.composing import language_of
from apps.tenants.actors import organisation_actor
from apps.training.arrays import selectors, services
from apps.training.models import ArrayLine, Run, RunArray
from apps.workloads.choices import LIVE
from apps.workloads.models import Workload

# What ends by itself: quota and balance as other work ends or money comes, a service that is away.
PASSING = (QuotaExceeded, InsufficientFunds, Unavailable)
AGAIN = timedelta(seconds=10)
AT_ONCE_FROM_ONE = 20
LONGEST = 500


def start_due() -> int:
    """How many runs were started. Call in the platform's scope."""
    due = ArrayLine.objects.filter(due=True, array__next_try_at__lte=db_now())
    ids = due.order_by("array__next_try_at", "array_id").values_list("array_id", flat=True)
    return sum(_advance(array_id) for array_id in dict.fromkeys(ids))


def _advance(array_id: UUID) -> int:
    """A part of its lines, so that a long array does not keep others waiting."""
    array = RunArray.objects.select_related("owner").get(pk=array_id)
    with translation.override(language_of(array.owner)):
        try:
            owner = _owner(array)
        except Frozen as error:  # it thaws: nothing is given up meanwhile
            return _wait(array, error)
        except DomainError as error:
            return _refuse_all(array, error)
        with acting(owner):
            for count in range(AT_ONCE_FROM_ONE):
                if not _start_next(owner, array):
                    return count
    return AT_ONCE_FROM_ONE


def _owner(array: RunArray) -> Actor:
    """With the rights of now."""
    if not array.owner.is_active:
        raise Denied(Permission.TRAINING_SUBMIT)
    actor = organisation_actor(array.owner, array.organisation_id)
    actor.require(Permission.TRAINING_SUBMIT)
    return actor


def _start_next(owner: Actor, array: RunArray) -> bool:
    """Whether a run started. What its owner has to change is kept at the line, and the next one is tried."""
    while True:
        line = None
        try:
            with transaction.atomic():
                line = _claimed(array)
                if line is None:
                    return False
                _submit(owner, array, line)
            RunArray.objects.filter(pk=array.pk).exclude(waits="").update(waits="")
            return True
        except PASSING as error:
            _wait(array, error)
            return False
        except DomainError as error:
            _refuse(line, error)


def _claimed(array: RunArray) -> ArrayLine | None:
    """The next line that is due, while nobody else starts runs of the array; None: none may start now."""
    if not list(RunArray.objects.select_for_update(skip_locked=True, no_key=True).filter(pk=array.pk)):
        return None
    if array.at_once is not None:
        live = Workload.objects.filter(training_run__array_line__array=array, status__in=LIVE)
        if live.count() >= array.at_once:
            return None
    found: ArrayLine | None = ArrayLine.objects.filter(array=array, due=True).order_by("number").first()
    return found


def _submit(owner: Actor, array: RunArray, line: ArrayLine) -> None:
    rows = Run.objects.filter(array_line=line).select_related("workload", "image")
    last = rows.filter(deleted_at__isnull=True).order_by("-version").first()
    if last is not None:
        services.submit_again(owner, line, last)
        return
    first = selectors.first_run(array)
    if first is None:
        raise NotFound
    services.submit_like(owner, line, first)


def _wait(array: RunArray, error: DomainError) -> int:
    RunArray.objects.filter(pk=array.pk).update(waits=_words(error), next_try_at=db_now() + AGAIN)
    return 0


def _words(error: DomainError) -> str:
    return str(error.sentences)[:LONGEST]


def _refuse(line: ArrayLine | None, error: DomainError) -> None:
    if line is not None:
        ArrayLine.objects.filter(pk=line.pk).update(due=False, refused=_words(error))


def _refuse_all(array: RunArray, error: DomainError) -> int:
    """Whoever may not start runs any more starts none of these."""
    ArrayLine.objects.filter(array=array, due=True).update(due=False, refused=_words(error))
    return 0
