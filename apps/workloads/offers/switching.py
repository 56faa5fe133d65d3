"""Leaving the queue for another package without losing one's place: both happen in one transaction, or nothing does."""

from django.utils.translation import gettext_lazy as _

from apps.billing.models import Package
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.workloads import states
from apps.workloads.choices import Reason, Status
from apps.workloads.models import Workload
from apps.workloads.offers.alternatives import outlook
from apps.workloads.permissions import may_change

MAX_DIGITS = 9  # all such numbers fit into the column


def refuse_unless_it_starts(actor: Actor, workload: Workload, package: Package) -> None:
    """`Conflict` where the page was out of date when somebody pressed the button: a place is not given up for that."""
    if not outlook(actor, workload, package).starts_now:
        raise Conflict(
            _("On this package it would not start at once any more."),
            hint=_("Nothing was changed; it keeps its place in the queue."),
        )


def give_up_place(actor: Actor, workload: Workload) -> None:
    """Out of the queue, with its quota and its hold. Call in the transaction that submits what comes instead.

    Raises `Conflict` once it does not wait any more.
    """
    may_change(actor, workload)
    row = Workload.objects.select_for_update(of=("self",)).get(pk=workload.pk)
    if row.status != Status.QUEUED or not states.stop(actor, row, states.Why(Reason.CHANGED, {"by": actor.label})):
        raise Conflict(_("It does not wait any more."), hint=_("Look at the page again: it may have started."))


def take_place(instead: Workload, before: Workload) -> None:
    """What was submitted instead has waited as long as what it replaces."""
    Workload.objects.filter(pk=instead.pk, status=Status.QUEUED).update(queued_at=before.queued_at)
    instead.queued_at = before.queued_at


def package_number(text: str) -> int:
    """A package's id as a form posts it; 0, which no package has, for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else 0
