"""Writing under a claim."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from apps.automl import states
from apps.automl.models import Experiment


class ClaimLost(Exception):
    """Another claimant is at it, or it has ended: whatever this one found counts no more."""


@contextmanager
def writing(experiment: Experiment) -> Iterator[Experiment]:
    """A transaction with the experiment's row locked, as it stands. Raises `ClaimLost`."""
    with transaction.atomic():
        row = states.held(experiment)
        if row is None:
            raise ClaimLost
        yield row
