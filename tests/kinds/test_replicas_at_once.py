"""Many who scale, stop and look at the same set at once, each in a transaction of its own."""

from collections import Counter
from functools import partial

import pytest

from apps.common.errors import Conflict, InsufficientFunds
from apps.common.scoping import acting
from apps.tenants.models import Quota
from apps.workloads import nodes
from apps.workloads import services as workloads
from apps.workloads.choices import LIVE, Desired
from apps.workloads.models import ReplicaSet, Workload
from apps.workloads.reconcile.attempts import reconcile_due
from apps.workloads.reconcile.schedule import run_pass
from apps.workloads.replicas import converge
from apps.workloads.replicas import services as replicas
from tests.builders import make_world, platform
from tests.kinds.replicated import all_serve, live, serve, simulated_machines, until_set
from tests.kinds.toy.kind import LINE
from tests.workloads.loops import make_due
from tests.workloads.test_lost_kills import at_once
from tests.workloads.test_preempt import finish

pytestmark = pytest.mark.programs


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("serving_toy")
def test_whoever_comes_first_the_numbers_agree() -> None:
    nodes.simulated_driver.cache_clear()
    with acting(platform()):
        world = make_world()
        simulated_machines(2)
        band = serve(world, 2)
        until_set(band, all_serve(band))
        one = live(band)[0]
        make_due()
    actor = world.actor
    errors = at_once(
        [
            *(partial(replicas.scale, actor, band.pk, wanted) for wanted in (5, 2, 4, 3)),
            partial(workloads.stop, actor, one),
            partial(converge.sweep, platform()),
            partial(reconcile_due, platform()),
            partial(run_pass, platform()),
        ]
    )
    assert not [error for error in errors if not isinstance(error, Conflict | InsufficientFunds)]
    with acting(platform()):
        converge.sweep(platform())
        band.refresh_from_db()
        rows = list(Workload.objects.filter(replica_set=band, status__in=LIVE))
        assert sum(row.desired == Desired.RUNNING for row in rows) == band.wanted
        assert max(Counter(row.replica_index for row in rows).values()) == 1
        of_all = Quota.objects.filter(organisation=world.organisation, resource=LINE, user=None, department=None)
        assert of_all.get().used == len(rows)
        until_set(band, lambda seen: not seen.leaving and seen.serving == min(seen.wanted, 2))
        assert ReplicaSet.objects.count() == 1
        finish(*Workload.objects.exclude(ended_at__isnull=False))
    nodes.simulated_driver.cache_clear()
