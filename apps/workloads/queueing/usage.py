"""What each organisation used lately, which the queue weighs against those who used more.

With λ = ln 2 / 7 days, the use at time t is U(t) = ∫ r(s)·e^(−λ(t−s)) ds over all past s, r being what was held then,
in thousandths of cards and of cores, and in MiB. One placement has a constant rate r from a to b, so it adds exactly
r/λ · (e^(−λ(t−b)) − e^(−λ(t−a))), and what was known at t₀ fades to U(t₀)·e^(−λ(t−t₀)). It does not matter, then, how
often this is brought up to date. A card that is held for ever comes to r/λ, about ten days of it.
"""

import math
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

import scheduler
from apps.tenants.models import Organisation
from apps.workloads.models import RecentUse
from scheduler.shares import CPU, MEMORY

HALF_LIFE = timedelta(days=7)
FADING = math.log(2) / HALF_LIFE.total_seconds()  # per second
# Standings move by less than this matters in a minute.
PAUSE = timedelta(seconds=60)

# What a column counts of a placement, and how the scheduler calls it.
COUNTED = {
    "gpu_milli_s": ("core_milli", scheduler.ANY_MODEL),
    "cpu_milli_s": ("cpu_milli", CPU),
    "memory_mib_s": ("memory_mib", MEMORY),
}
_COLUMNS = [(prefix + column, held, prefix) for column, (held, _) in COUNTED.items() for prefix in ("", "simulated_")]
_SUMS = ", ".join(
    f"SUM({held} * weight) FILTER (WHERE {'simulated' if prefix else 'NOT simulated'}) AS {column}"
    for column, held, prefix in _COLUMNS
)
_FADED = ", ".join(f"{column} * fade AS {column}" for column, _, _ in _COLUMNS)
_ADDED = ", ".join(f"{column} = faded.{column} + COALESCE(used.{column}, 0)" for column, _, _ in _COLUMNS)

# Every row is brought to the same instant, so one look at what was held since the last one serves them all.
# A placement that a transaction under way is just releasing counts a moment too long.
_BRING_UP_TO_DATE = f"""
WITH piece AS (
    SELECT held.*, zone.simulated,
           extract(epoch FROM %(now)s - LEAST(COALESCE(held.released_at, %(now)s), %(now)s))::float8 AS ended_ago,
           extract(epoch FROM %(now)s - GREATEST(held.created_at, use.at))::float8 AS began_ago
    FROM workloads_placement held
    JOIN workloads_recentuse use ON use.organisation_id = held.organisation_id
    JOIN clusters_node node ON node.id = held.node_id
    JOIN clusters_logicalcluster cluster ON cluster.id = node.cluster_id
    JOIN clusters_zone zone ON zone.id = cluster.zone_id
    WHERE held.created_at < %(now)s AND (held.released_at IS NULL OR held.released_at > %(since)s)
), lasting AS (
    SELECT *, (exp(-%(fading)s * ended_ago) - exp(-%(fading)s * began_ago)) / %(fading)s AS weight
    FROM piece WHERE began_ago > ended_ago
), used AS (
    SELECT organisation_id, {_SUMS}
    FROM lasting GROUP BY organisation_id
)
UPDATE workloads_recentuse use SET
    {_ADDED},
    at = %(now)s
FROM (
    SELECT organisation_id, {_FADED} FROM (
        SELECT *, exp(-%(fading)s * GREATEST(0, extract(epoch FROM %(now)s - at))::float8) AS fade
        FROM workloads_recentuse
    ) known
) faded LEFT JOIN used ON used.organisation_id = faded.organisation_id
WHERE use.organisation_id = faded.organisation_id
"""  # noqa: S608 (names of our own columns)


def bring_up_to_date(now: datetime) -> bool:
    """Count what was held since the last time; False where that was less than a minute ago. Call under the lock."""
    _enter_new()
    since = RecentUse.objects.order_by("at").values_list("at", flat=True).first()
    if since is None or now - since < PAUSE:
        return False
    with connection.cursor() as cursor:
        cursor.execute(_BRING_UP_TO_DATE, {"now": now, "since": since, "fading": FADING})
    return True


def _enter_new() -> None:
    """An organisation that is not in the book yet has used nothing before it was made."""
    known = RecentUse.objects.values("organisation_id")
    fresh = Organisation.objects.with_scopes_disabled().exclude(pk__in=known)
    RecentUse.objects.bulk_create(
        [RecentUse(organisation=organisation, at=organisation.created_at) for organisation in fresh],
        ignore_conflicts=True,
    )


def recent_use(now: datetime, *, simulated: bool) -> dict[UUID, dict[str, float]]:
    """By organisation and resource, times seconds, faded to `now`, of what was counted so far."""
    prefix = "simulated_" if simulated else ""
    found = {}
    for row in RecentUse.objects.all():
        left = decay_factor(now - row.at)
        found[row.organisation_id] = {
            name: getattr(row, prefix + column) * left for column, (_held, name) in COUNTED.items()
        }
    return found


def decay_factor(by: timedelta) -> float:
    """What is left of 1 after this long."""
    return math.exp(-FADING * max(0.0, by.total_seconds()))
