"""A fingerprint of what is replayed: the same on both sides of a scenario, and on a repeat from the same past."""

import hashlib
from collections.abc import Iterable
from dataclasses import replace

from scheduler.replay import Arrival


def digest_of(arrivals: Iterable[Arrival]) -> str:
    """SHA-256 over the arrivals without priorities, which side B may change."""
    found = hashlib.sha256()
    for arrival in arrivals:
        found.update(repr(replace(arrival, task=replace(arrival.task, priority=3))).encode())
    return found.hexdigest()
