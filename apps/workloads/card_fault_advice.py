"""What a card of a failed program reported while it ran, in words beside the program's own end.

Only of cards that it held alone: of a shared one nobody can tell whose program a fault is of, once that has ended.
"""

from dataclasses import replace
from datetime import timedelta

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.clusters.fault_words import meaning
from apps.clusters.models import CardFault
from apps.clusters.xids import FATAL
from apps.workloads.advice import Advice
from apps.workloads.choices import Reason
from apps.workloads.models import Attempt, Workload

# Faults that a program causes by itself. Others of its own, such as 45, only follow from these or from its end.
OWN = frozenset({13, 25, 31, 69, 137})
# A memory error that hit nobody else: the card goes on.
CONTAINED = 94
# The machine's clock and ours differ a little, and an end is seen a moment after it.
MARGIN = timedelta(seconds=5)


def with_card_fault(advice: Advice, workload: Workload, attempt: Attempt | None) -> Advice:
    """The advice, with what the program's card reported where it ended badly by itself."""
    if attempt is None or workload.reason not in (Reason.EXIT_CODE, Reason.SIGNAL) or not workload.frozen_spec.gpu:
        return advice
    fault = _fault_of(attempt)
    if fault is None:
        return advice
    words = {"meaning": meaning(fault.code), "code": fault.code}
    if fault.code in OWN:
        text = _("Its card reported of it: %(meaning)s (XID %(code)s).") % words
        fix = _(
            "Run it once with CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer: the error then stands where it is."
        )
        return replace(advice, text=f"{advice.text} {text}", fixes=(fix, *advice.fixes))
    text = _("Its card reported a fault while it ran: %(meaning)s (XID %(code)s).") % words
    fix = _("Run it again; nothing in the program needs to change.")
    if fault.is_fatal:
        fix = _("Run it again: a card with such a fault takes no new work until it was reset.")
    verdict = _("This is probably the card's fault, not your program's.")
    return replace(advice, text=f"{advice.text} {text}", verdict=verdict, fixes=(fix,))


def _fault_of(attempt: Attempt) -> CardFault | None:
    """The gravest of its time: what the card did by itself before what the program did."""
    if attempt.started_at is None or attempt.ended_at is None:
        return None
    telling = Q(remedy__in=[remedy.value for remedy in FATAL]) | Q(code__in=[*OWN, CONTAINED])
    found = CardFault.objects.filter(
        telling,
        accelerator__placements__attempt=attempt,
        accelerator__placements__exclusive=True,
        last_at__gte=attempt.started_at,
        at__lte=attempt.ended_at + MARGIN,
    )
    return min(found, key=lambda fault: (fault.code in OWN, fault.code == CONTAINED, fault.at), default=None)
