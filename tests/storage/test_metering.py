"""Volumes and datasets are metered by the room that they hold, until they are purged."""

from decimal import Decimal

import pytest

from apps.billing.models import MeterSession
from apps.billing.storage.services import set_storage_price
from apps.common.actor import Actor, system_actor
from apps.common.scoping import acting
from apps.storage import volumes
from apps.storage.metering import gib, meter
from tests.storage.kit import make_volume


@pytest.mark.parametrize(("mib", "expected"), [(0, 0), (1, 1), (1024, 1), (1025, 2)])
def test_room_is_rounded_up(mib: int, expected: int) -> None:
    assert gib(mib) == expected


def test_a_volume_is_metered_until_it_is_purged(alice: Actor) -> None:
    with acting(system_actor()) as platform:
        set_storage_price(platform, rate_fen_per_hour=Decimal(1))
    volume = make_volume(alice, size_mib=1500)
    with acting(system_actor()):
        meter()
        session = MeterSession.objects.get(workload_id=volume.pk)
    assert (session.replicas, session.label, session.user_id) == (2, volume.name, alice.user_id)
    with acting(alice):
        volumes.resize(alice, volume, size_mib=4096)
        volumes.delete(alice, volume)
    with acting(system_actor()):
        meter()
        assert MeterSession.objects.get(workload_id=volume.pk, closed_at__isnull=True).replicas == 4
    with acting(alice):
        volumes.purge(alice, volume)
    with acting(system_actor()):
        meter()
        assert not MeterSession.objects.filter(closed_at__isnull=True).exists()
