"""Writing under a claim."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from apps.pipelines import states
from apps.pipelines.models import PipelineRun


class ClaimLost(Exception):
    """Another claimant is at it, or it has ended: whatever this one found counts no more."""


@contextmanager
def writing(row: PipelineRun) -> Iterator[PipelineRun]:
    """A transaction with the run's row locked, as it stands. Raises `ClaimLost`."""
    with transaction.atomic():
        found = states.held(row)
        if found is None:
            raise ClaimLost
        yield found
