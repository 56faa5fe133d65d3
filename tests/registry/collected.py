"""Collections in tests: the launcher's part ticks here as its supervisor would have it."""

import time

from apps.common.scoping import acting
from apps.registry import tasks
from apps.registry.distribution import collecting
from apps.registry.models import Collection
from apps.tenants.models import User
from plstack.launch.collecting import Collector
from tests.builders import staff_actor
from tests.registry.serving import Site


def collector(site: Site, quiet_s: float = 0.0) -> Collector:
    return Collector(site.registry, print, quiet_s)


def collect(site: Site, staff: User) -> Collection:
    """Asked for and done."""
    actor = staff_actor(staff)
    with acting(actor):
        asked = collecting.ask(actor)
    gather(site)
    asked.refresh_from_db()
    return asked


def gather(site: Site) -> None:
    """Do what is asked for."""
    ours, deadline = collector(site), time.monotonic() + 60
    while Collection.objects.filter(ended_at__isnull=True).exists():
        assert time.monotonic() < deadline
        tasks.collect()
        ours.tick()
