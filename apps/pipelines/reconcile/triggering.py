"""New versions of datasets: each starts the pipelines that wait for it, once, as their owner with the rights of now.

A start and the number up to which versions were seen are written in one transaction under the pipeline's lock. Several
versions that came while nothing looked are one start, of the newest.
"""

import logging
from uuid import UUID

from django.db import transaction
from django.db.models import F

from apps.common.errors import DomainError
from apps.common.scoping import acting
from apps.pipelines import starting
from apps.pipelines.choices import Cause
from apps.pipelines.models import Pipeline
from apps.pipelines.owners import owner_of
from apps.storage import datasets
from apps.storage.models import DatasetVersion

log = logging.getLogger(__name__)


def start_on_datasets() -> int:
    """How many were started. Call in the platform's scope."""
    rows = Pipeline.objects.filter(deleted_at__isnull=True, dataset__newest__gt=F("seen_version"))
    return sum(_start(pipeline_id) for pipeline_id in list(rows.values_list("pk", flat=True)))


def _start(pipeline_id: UUID) -> bool:
    with transaction.atomic():
        locked = Pipeline.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
        row = locked.select_related("owner", "dataset").filter(pk=pipeline_id, deleted_at__isnull=True).first()
        if row is None or row.dataset is None or row.dataset.newest <= row.seen_version:
            return False
        newest = row.dataset.newest
        Pipeline.objects.filter(pk=row.pk).update(seen_version=newest)
        version = DatasetVersion.objects.filter(dataset=row.dataset, number=newest).first()
        if version is None:  # it was deleted at once
            return False
        try:
            with transaction.atomic():
                return _start_as_owner(row, version)
        except DomainError as error:
            log.warning("pipeline %s was not started by a dataset: %s", row.pk, error.code)
            return False


def _start_as_owner(row: Pipeline, version: DatasetVersion) -> bool:
    owner = owner_of(row)
    with acting(owner):
        datasets.get_version(owner, version.pk)
        asked = starting.Start(cause=Cause.DATASET, key=str(version.pk), dataset_version=version)
        starting.start(owner, row, asked)
    return True
