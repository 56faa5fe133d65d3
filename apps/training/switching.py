"""Switch a waiting run to a package on which it starts now, as its next version, in one step."""

from dataclasses import replace

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.permissions import Permission
from apps.secrets.choosing import refuse_lost
from apps.training.models import Run
from apps.training.services import request_of, submit
from apps.workloads.launching.submission import choose_package
from apps.workloads.offers.switching import give_up_place, refuse_unless_it_starts, take_place


def start_instead(actor: Actor, run: Run, *, package_id: int, key: str) -> Run:
    """The next version of a waiting run on another package, which starts at once; the waiting one is cancelled.

    The same key again returns the run made first. Raises `Conflict` (it started, or the package would not start it
    now), `Invalid`, `QuotaExceeded`, `InsufficientFunds`: then it waits on, in its place.
    """
    actor.require(Permission.TRAINING_SUBMIT)
    made: Run | None = Run.objects.filter(workload__owner_id=actor.user_id, workload__submit_key=key).first()
    if made is not None:
        return made
    if run.owner_id != actor.user_id:
        raise Conflict(_("Only who started it can go on with another package."))
    refuse_lost(actor, run.workload.frozen_spec.secrets)
    package = choose_package(actor, package_id)
    refuse_unless_it_starts(actor, run.workload, package)
    with transaction.atomic():
        give_up_place(actor, run.workload)
        again = submit(actor, replace(request_of(run, key=key), package_id=package.pk, also_ids=()))
        take_place(again.workload, run.workload)
    return again
