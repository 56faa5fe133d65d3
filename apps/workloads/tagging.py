"""Tags of workloads: set at submission, changed at any time, found and offered again.

A change takes effect on what is metered from then on: the next attempt or start. What has been metered keeps the tags
that it began with, and so does its cost.
"""

from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, QuerySet

from apps.audit.services import record
from apps.billing.consumption.tag_costs import unnest
from apps.common import tags as words
from apps.common.actor import Actor
from apps.workloads import announce
from apps.workloads.models import Workload
from apps.workloads.permissions import may_change

# Suggestions come from the organisation's newest work: so many tags of so many tagged workloads.
OFFERED = 20
LOOKED_AT = 2000


def tag_columns(tags: Iterable[str]) -> dict[str, list[str]]:
    """Both columns of a row with tags, checked. Raises `Invalid` for the field "tags"."""
    checked = words.check(tags)
    return {"tags": list(checked), "tag_keys": words.keys(checked)}


def set_tags(actor: Actor, workload: Workload, tags: Iterable[str]) -> None:
    """Change the tags of a workload, whatever its status; the same again changes nothing and leaves no entry.

    Raises `Invalid` for the field "tags", `NotFound` or `Denied` where the actor may not change it.
    """
    may_change(actor, workload)
    with transaction.atomic():
        before = write_tags(workload, tags)
        if before != workload.tags:
            record(
                actor,
                action="workload.tagged",
                target=announce.target(workload),
                organisation_id=workload.organisation_id,
                before={"tags": before},
                after={"tags": workload.tags},
            )


def write_tags(workload: Workload, tags: Iterable[str]) -> list[str]:
    """Without a word about it: for who records the change of something larger. Returns the tags of before.

    The row stays locked until the transaction ends, so that an attempt that begins meanwhile is metered with the old
    tags or the new ones as the log says.
    """
    columns = tag_columns(tags)
    rows = Workload.objects.select_for_update(of=("self",), no_key=True).filter(pk=workload.pk)
    before: list[str] = rows.values_list("tags", flat=True).get()
    if before != columns["tags"]:
        Workload.objects.filter(pk=workload.pk).update(**columns)
        announce.progressed(workload)
    workload.tags, workload.tag_keys = columns["tags"], columns["tag_keys"]
    return before


def with_tag(rows: QuerySet[Any], tag: str, path: str = "") -> QuerySet[Any]:
    """Rows with this tag, however it is written; `path` leads from them to where the tags are ("workload__")."""
    return rows.filter(**{f"{path}tag_keys__contains": [words.fold(tag.strip())]})


def used_tags(actor: Actor) -> list[str]:
    """Tags of the organisation's newest work, the most used first, each as it was written last or so."""
    if actor.organisation_id is None:
        return []
    tagged = Workload.objects.filter(organisation_id=actor.organisation_id, tag_keys__len__gt=0)
    newest = tagged.order_by("-created_at").values("pk")[:LOOKED_AT]
    rows = Workload.objects.filter(pk__in=newest).order_by()
    pairs = rows.annotate(key=unnest("tag_keys"), typed=unnest("tags")).values_list("key", "typed")
    return _offered(pairs.annotate(times=Count("pk"), last=Max("created_at")))


def _offered(rows: Iterable[tuple[str, str, int, Any]]) -> list[str]:
    uses: dict[str, int] = {}
    typed: dict[str, tuple[Any, str]] = {}
    for key, written, times, last in rows:
        uses[key] = uses.get(key, 0) + times
        typed[key] = max(typed.get(key, (last, written)), (last, written))
    most = sorted(uses, key=lambda key: (-uses[key], key))[:OFFERED]
    return [typed[key][1] for key in most]
