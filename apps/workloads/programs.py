"""The programs of an attempt: the attempt itself or, of a gang, its members.

To a driver each program is one thing to run, whose name derives from its id.
"""

from collections.abc import Collection, Iterable
from uuid import UUID

from django.db.models import Q

from apps.workloads.models import Attempt, Member, Workload

Program = Attempt | Member
MAX_DIGITS = 4


def is_gang(attempt: Attempt) -> bool:
    return attempt.workload.member_count > 1


def programs_of(attempt: Attempt) -> list[Program]:
    """By rank."""
    return list(members_of(attempt)) if is_gang(attempt) else [attempt]


def members_of(attempt: Attempt) -> list[Member]:
    """Of a gang, by rank, with their nodes."""
    return list(Member.objects.filter(attempt=attempt).select_related("node").order_by("rank"))


def program_at(attempt: Attempt, rank: int) -> Program | None:
    """None where the attempt has no such rank."""
    return next((program for place, program in enumerate(programs_of(attempt)) if place == rank), None)


def ranks_of(workload: Workload, attempt: Attempt | None) -> range:
    """Those that there are to see: of the attempt, which may have fewer, or of the workload while there is none."""
    return range(workload.member_count if attempt is None or attempt.size is None else attempt.size)


def asked_rank(workload: Workload, text: str, attempt: Attempt | None = None) -> int:
    """The rank that a page was asked for; 0 for what is no rank of the attempt's, or of the workload's without one."""
    rank = int(text) if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS else 0
    return rank if rank in ranks_of(workload, attempt) else 0


def with_program_on(node_ids: Collection[UUID] | UUID) -> Q:
    """Attempts of which a program was placed on one of these nodes."""
    wanted = [node_ids] if isinstance(node_ids, UUID) else list(node_ids)
    members = Member.objects.filter(node_id__in=wanted).values("attempt_id")
    return Q(node_id__in=wanted) | Q(pk__in=members)


def attempts_by_ref(refs: Iterable[UUID]) -> dict[UUID, UUID]:
    """The attempt of each of these programs, by the name that its driver knows; unknown ones are left out."""
    wanted = list(refs)
    found = {pk: pk for pk in Attempt.objects.filter(pk__in=wanted).values_list("pk", flat=True)}
    return found | dict(Member.objects.filter(pk__in=wanted).values_list("pk", "attempt_id"))
