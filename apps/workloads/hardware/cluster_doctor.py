"""Examining Kubernetes clusters: ordered by an operator, or by the platform where nodes wait to be proved; done by a
worker, and kept with its time.
"""

import logging
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.clusters import selectors as clusters
from apps.clusters import states
from apps.clusters.models import ClusterCheckup, KubernetesCluster
from apps.common.actor import Actor, system_actor
from apps.common.claiming import MOST_CLAIMS
from apps.common.errors import Conflict, NotFound
from apps.common.permissions import Permission
from apps.workloads import nodes, nudge
from apps.workloads.hardware import node_proofs

log = logging.getLogger(__name__)
KEPT = 20
"""Of each zone; older ones are deleted."""


class ClaimLost(Exception):
    """Another worker has taken it up: whatever this one finds counts no more."""


def order_checkup(actor: Actor, *, zone_id: UUID) -> ClusterCheckup:
    """Have the zone's cluster examined. Raises NotFound for a zone without one; Conflict while it is examined."""
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    zone = clusters.zone(actor, zone_id)
    if not KubernetesCluster.objects.filter(zone=zone).exists():
        raise NotFound(_("This zone is no Kubernetes cluster."))
    made = _order(zone.pk, automatic=False)
    record(actor, action="zone.examined", target=Target("zone", str(zone.pk), zone.name))
    return made


def order_due(zone_id: UUID) -> bool:
    """Order one as the platform, where nodes of the zone wait for their proof; whether it did."""
    if not node_proofs.is_checkup_due(zone_id):
        return False
    with suppress(Conflict):  # a person was first
        _order(zone_id, automatic=True)
        return True
    return False


def _order(zone_id: UUID, *, automatic: bool) -> ClusterCheckup:
    try:
        with transaction.atomic():
            made = ClusterCheckup.objects.create(zone_id=zone_id, automatic=automatic)
    except IntegrityError as error:
        raise Conflict(_("It is being examined already."), hint=_("Wait until that is done.")) from error
    _delete_old(zone_id)
    nudge.examine_clusters()
    return made


def _delete_old(zone_id: UUID) -> None:
    old = ClusterCheckup.objects.filter(zone_id=zone_id).order_by("-created_at").values_list("pk", flat=True)[KEPT:]
    ClusterCheckup.objects.filter(pk__in=list(old)).delete()


def checkups(actor: Actor, zone_id: UUID) -> list[ClusterCheckup]:
    """Of the zone, the newest first. Raises NotFound."""
    zone = clusters.zone(actor, zone_id)
    if not KubernetesCluster.objects.filter(zone=zone).exists():
        raise NotFound(_("This zone is no Kubernetes cluster."))
    return list(ClusterCheckup.objects.filter(zone=zone).order_by("-created_at")[:KEPT])


def examine_due() -> int:
    """Do what was ordered; how many were done."""
    count = 0
    while (checkup := states.claim_checkup()) is not None:
        if checkup.fence > MOST_CLAIMS:
            states.fail_checkup(checkup)
            continue
        try:
            _examine(checkup)
        except ClaimLost:
            continue
        except Exception:
            log.exception("the cluster of zone %s could not be examined", checkup.zone_id)
            states.fail_checkup(checkup)
        count += 1
    return count


def _examine(checkup: ClusterCheckup) -> None:
    row = KubernetesCluster.objects.select_related("zone").get(pk=checkup.zone_id)
    findings: list[dict[str, Any]] = []

    def report(step: str) -> None:
        if not states.report_step(checkup, step, findings):
            raise ClaimLost

    wanted = node_proofs.waiting_names(row.pk)
    for found in nodes.kubernetes_driver().examine(nodes.cluster_of(row), settings.REGISTRY_HOST, report, wanted):
        findings.append(found.as_json())
    with transaction.atomic():
        if states.finish_checkup(checkup, findings):
            node_proofs.apply_proofs(system_actor(), checkup, node_proofs.read_proofs(findings))
