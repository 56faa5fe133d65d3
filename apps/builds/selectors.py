"""Read builds that the actor may see."""

import json
import re
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.billing.prices.own import with_paid_rate
from apps.builds.choices import KIND
from apps.builds.models import Build
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.registry import selectors as registry
from apps.registry.models import Image
from apps.storage.safe_open import open_file
from apps.storage.services import root_of
from apps.workloads.choices import LIVE
from apps.workloads.permissions import seen_rows
from apps.workloads.single_workload.selectors import one

RESULT = "result.json"
MOST_RESULT = 4096
_MACHINE = re.compile(r"[a-z0-9_]{2,20}", re.ASCII)


def builds(actor: Actor) -> QuerySet[Build]:
    """Newest first, with `paid_rate` in fen per hour."""
    rows: QuerySet[Build] = Build.objects.select_related(
        *("workload__package", "workload__price_version", "owner", "base", "image", "files", "plan", "answers"),
        "waits_for",
    )
    return with_paid_rate(seen_rows(actor, KIND, rows), "workload__").order_by("-created_at", "-pk")


def get(actor: Actor, build_id: UUID) -> Build:
    """One visible build; `NotFound` otherwise."""
    return one(builds(actor), pk=build_id)


def bases(actor: Actor) -> QuerySet[Image]:
    """Container images on which the actor may build, their own first."""
    return registry.images_own_first(actor).exclude(reference="")


@dataclass(frozen=True, slots=True)
class Result:
    """What the program in the sandbox says. `failed`: the number of a step, from 1 on; `status`: how that ended.

    `cached`: how many steps were taken from the cache. `machine`: the architecture, as uname(2) has it.
    """

    done: bool = False
    failed: int = 0
    status: int | None = None
    cached: int = 0
    machine: str = ""


def result(build: Build) -> Result | None:
    """None until it says something that can be read: it is the tenant's own program that writes it."""
    try:
        with open(open_file(root_of(build.answers), RESULT), "rb") as file:
            told = json.loads(file.read(MOST_RESULT))
    except (DomainError, OSError, ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    status, machine = told.get("status"), str(told.get("machine"))
    return Result(
        told.get("done") is True,
        _count(build, told.get("failed")),
        status if isinstance(status, int) else None,
        _count(build, told.get("cached")),
        machine if _MACHINE.fullmatch(machine) else "",
    )


def _count(build: Build, told: Any) -> int:
    """Of steps; 0 where it cannot be right."""
    return told if type(told) is int and 0 < told <= len(build.steps) else 0


def kept_layouts() -> set[str]:
    """Digests of what goes on being sent, and stays on its machine until then. One of `settings.NAMED_LAYOUTS`."""
    rows = Build.objects.filter(workload__status__in=LIVE, image__isnull=True).exclude(saved="")
    return {reference.partition("@")[2] for reference in rows.values_list("saved", flat=True)}
