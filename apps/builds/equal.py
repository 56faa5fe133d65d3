"""Equal builds of an organisation, at once: one is carried out, the others wait for it and take its steps.

Equal are those whose steps have the same keys (`cache.keys`), all of them known. The first is the leader; each other is
held back from the queue until the leader has ended and what it kept is the organisation's. Then the oldest of them
comes into the queue, with what the cache has by now: all steps after a leader that succeeded, those before the one
that failed otherwise. Whichever it is becomes the leader of the rest, so nobody waits for somebody who waits.

What is held back is charged for nothing: it has no attempt. It keeps its place among the quotas, as all that waits.
"""

from django.db import transaction
from django.db.models import Q, QuerySet

from apps.builds.cache.offering import lay_out
from apps.builds.models import Build
from apps.storage.disk import exclusive_turn
from apps.workloads.choices import LIVE, Status
from apps.workloads.queueing.holding_back import hold_back, let_queue


def wait_for_equal(build: Build) -> None:
    """Hold it back where an equal one is being built. Call in the transaction that has submitted it.

    Submitting holds the organisation's row until it commits (`tenants.quotas`), so of two at once the second sees the
    first.
    """
    leader = _leader(build)
    if leader is not None:
        hold_back(build.workload)
        Build.objects.filter(pk=build.pk).update(waits_for=leader)
        build.waits_for = leader


def let_go() -> int:
    """How many builds came into the queue. Call in the platform's scope, after `cache.keeping`."""
    with exclusive_turn("equal-builds") as ours:
        if not ours:
            return 0
        waiting = Build.objects.filter(waits_for__isnull=False).select_related("workload", "cached")
        return sum(_decide(build) for build in waiting.order_by("created_at", "pk"))


def _decide(build: Build) -> bool:
    """Whether it came into the queue."""
    if build.workload.status != Status.QUEUED:
        Build.objects.filter(pk=build.pk).update(waits_for=None)
        return False
    leader = _leader(build)
    if leader is not None:
        Build.objects.filter(pk=build.pk).exclude(waits_for=leader).update(waits_for=leader)
        return False
    if build.cached is not None:
        lay_out(build.organisation_id, _keys_by_part(build), build.cached)
    with transaction.atomic():
        Build.objects.filter(pk=build.pk).update(waits_for=None)
        let_queue(build.workload)
    return True


def _leader(build: Build) -> Build | None:
    """The one that an equal build waits for: it goes on, or has not given up what it kept yet."""
    if build.without_cache or not build.step_keys or not all(build.step_keys):
        return None
    rows: QuerySet[Build] = Build.objects.filter(
        Q(workload__status__in=LIVE) | Q(kept__isnull=False),
        organisation_id=build.organisation_id,
        step_keys=build.step_keys,
        without_cache=False,
        waits_for__isnull=True,
    )
    return rows.exclude(pk=build.pk).order_by("created_at", "pk").first()


def _keys_by_part(build: Build) -> list[list[str]]:
    parts: list[list[str]] = [[] for _stage in build.stages]
    for step, key in zip(build.steps, build.step_keys, strict=True):
        parts[step["part"]].append(key)
    return parts
