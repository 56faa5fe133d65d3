"""What was spent under tags: those that each run had when its metering began.

A run with two tags counts under both, so the sums of tags add up to more than what was charged; runs without a tag have
a line of their own. Nothing here checks who may see the rows: the caller has narrowed them to what the actor may see.
"""

from collections.abc import Collection, Mapping
from datetime import date
from decimal import Decimal
from uuid import UUID

from django.db.models import CharField, F, Func, Q, QuerySet, Sum

from apps.billing.models import MeterSession, SessionDay

# The key of what has no tag.
UNTAGGED = ""
# Whole fen, exact fen, seconds, runs.
Sums = tuple[int, Decimal, Decimal, int]
NOTHING: Sums = (0, Decimal(0), Decimal(0), 0)


def unnest(column: str) -> Func:
    """SQL unnest: one row for each element of an array. Two of them in one query advance together."""
    return Func(F(column), function="unnest", output_field=CharField())


def sums_by_tag(rows: QuerySet[SessionDay]) -> dict[str, Sums]:
    """Sums by tag as tags are compared; under `UNTAGGED` those of what has none, where there is anything.

    The database adds up each session, of which there are far fewer than days; a count of different runs by tag over all
    days took it five times as long as everything else.
    """
    sums = {"fen": Sum("amount_fen"), "exact": Sum("exact_fen"), "length": Sum("seconds")}
    sessions = rows.values_list("session__workload_id", "session__tag_keys", "session_id").annotate(**sums)
    found: dict[str, Sums] = {}
    runs: dict[str, set[UUID]] = {}
    for workload_id, keys, _session, fen, exact, length in sessions.iterator():
        for key in keys or [UNTAGGED]:
            fen_so_far, exact_so_far, length_so_far, _runs = found.get(key, NOTHING)
            runs.setdefault(key, set()).add(workload_id)
            found[key] = (fen_so_far + fen, exact_so_far + exact, length_so_far + length, len(runs[key]))
    return found


def has_any_tag(keys: Collection[str]) -> Q:
    """Rows that count under any of these keys."""
    found = Q(session__tag_keys__overlap=sorted(keys))
    return found | Q(session__tag_keys=[]) if UNTAGGED in keys else found


def spent_by_tag(organisation_id: UUID, keys: Collection[str], since: date, until: date) -> dict[str, Decimal]:
    """Exact fen charged for these days, both included, by key; keys without charges are left out."""
    if not keys:
        return {}
    rows = SessionDay.objects.filter(organisation_id=organisation_id, day__range=(since, until)).filter(
        has_any_tag(keys)
    )
    sums = rows.annotate(tag=unnest("session__tag_keys")).values_list("tag").annotate(fen=Sum("exact_fen"))
    return {key: fen for key, fen in sums if key in keys}


def tag_spellings(organisation_id: UUID, keys: Collection[str] | None = None) -> Mapping[str, str]:
    """How metered runs spell each tag (`keys` None: all tags). Of several spellings always the same one."""
    rows = MeterSession.objects.filter(organisation_id=organisation_id, tag_keys__len__gt=0)
    if keys is not None:
        rows = rows.filter(tag_keys__overlap=sorted(keys))
    pairs = rows.annotate(key=unnest("tag_keys"), typed=unnest("tags")).order_by().values_list("key", "typed")
    found: dict[str, str] = {}
    for key, typed in pairs.distinct():
        found[key] = min(found.get(key, typed), typed)
    return found
