"""SSH names of running programs: `run-`, the first 12 hex digits of the workload, and `.<rank>` (0 without it)."""

import re
from uuid import UUID

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.workloads.models import Workload
from apps.workloads.programs import MAX_DIGITS

DIGITS = 12
_NAME = re.compile(rf"run-([0-9a-f]{{{DIGITS}}})(?:\.([0-9]{{1,{MAX_DIGITS}}}))?", re.ASCII)


def ssh_name(workload: Workload, rank: int) -> str:
    return f"run-{workload.pk.hex[:DIGITS]}.{rank}"


def program_named(name: str) -> tuple[Workload, int] | None:
    """The workload and the rank, which it may not have; None for what names nothing, or more than one. Unscoped: the
    caller checks rights.
    """
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    rest = 32 - DIGITS
    between = (UUID(hex=match[1] + "0" * rest), UUID(hex=match[1] + "f" * rest))
    with acting(system_actor()):
        found = list(Workload.objects.filter(pk__range=between)[:2])
    return (found[0], int(match[2] or 0)) if len(found) == 1 else None
