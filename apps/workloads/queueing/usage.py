"""What each organisation used lately, which the queue weighs against those who used more.

With λ = ln 2 / 7 days, the use at time t is U(t) = ∫ r(s)·e^(−λ(t−s)) ds over all past s, r being the rate in
thousandths of a card. One placement has a constant rate r from a to b, so it adds exactly
r/λ · (e^(−λ(t−b)) − e^(−λ(t−a))), and what was known at t₀ fades to U(t₀)·e^(−λ(t−t₀)). It does not matter, then, how
often this is brought up to date. A card that is held for ever comes to r/λ, about ten days of it.
"""

import math
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection

from apps.tenants.models import Organisation
from apps.workloads.models import RecentUse

HALF_LIFE = timedelta(days=7)
FADING = math.log(2) / HALF_LIFE.total_seconds()  # per second
# Standings move by less than this matters in a minute.
PAUSE = timedelta(seconds=60)

# Every row is brought to the same instant, so one look at what was held since the last one serves them all.
# A placement that a transaction under way is just releasing counts a moment too long.
_BRING_UP_TO_DATE = """
WITH piece AS (
    SELECT held.organisation_id, zone.simulated, held.core_milli,
           extract(epoch FROM %(now)s - LEAST(COALESCE(held.released_at, %(now)s), %(now)s))::float8 AS ended_ago,
           extract(epoch FROM %(now)s - GREATEST(held.created_at, use.at))::float8 AS began_ago
    FROM workloads_placement held
    JOIN workloads_recentuse use ON use.organisation_id = held.organisation_id
    JOIN clusters_node node ON node.id = held.node_id
    JOIN clusters_logicalcluster cluster ON cluster.id = node.cluster_id
    JOIN clusters_zone zone ON zone.id = cluster.zone_id
    WHERE held.core_milli > 0 AND held.created_at < %(now)s
      AND (held.released_at IS NULL OR held.released_at > %(since)s)
), used AS (
    SELECT organisation_id,
           SUM(core_milli * (exp(-%(fading)s * ended_ago) - exp(-%(fading)s * began_ago)))
               FILTER (WHERE simulated) / %(fading)s AS simulated,
           SUM(core_milli * (exp(-%(fading)s * ended_ago) - exp(-%(fading)s * began_ago)))
               FILTER (WHERE NOT simulated) / %(fading)s AS real
    FROM piece WHERE began_ago > ended_ago GROUP BY organisation_id
)
UPDATE workloads_recentuse use SET
    gpu_milli_s = faded.real + COALESCE(used.real, 0),
    simulated_gpu_milli_s = faded.simulated + COALESCE(used.simulated, 0),
    at = %(now)s
FROM (
    SELECT organisation_id, gpu_milli_s * fade AS real, simulated_gpu_milli_s * fade AS simulated FROM (
        SELECT *, exp(-%(fading)s * GREATEST(0, extract(epoch FROM %(now)s - at))::float8) AS fade
        FROM workloads_recentuse
    ) known
) faded LEFT JOIN used ON used.organisation_id = faded.organisation_id
WHERE use.organisation_id = faded.organisation_id
"""


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


def recent_use(now: datetime, *, simulated: bool) -> dict[UUID, float]:
    """GPU-milli-seconds by organisation, faded to `now`, of what was counted so far."""
    return {
        row.organisation_id: (row.simulated_gpu_milli_s if simulated else row.gpu_milli_s) * decay_factor(now - row.at)
        for row in RecentUse.objects.all()
    }


def decay_factor(by: timedelta) -> float:
    """What is left of 1 after this long."""
    return math.exp(-FADING * max(0.0, by.total_seconds()))
