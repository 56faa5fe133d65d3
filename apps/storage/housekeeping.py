"""Clean up abandoned work: unfinished manifests, unreferenced contents."""

from datetime import timedelta
from uuid import UUID

from apps.common.clock import db_now
from apps.storage import objects, trees, uploads
from apps.storage.choices import OPEN_JOBS
from apps.storage.disk import data_root, move_to_trash
from apps.storage.models import Job, Manifest

# A capture touches its manifest with every batch; one that has not for so long is nobody's any more.
ABANDONED = timedelta(hours=24)
FORGOTTEN = timedelta(days=7)


def sweep() -> None:
    """Call in the platform's scope."""
    for manifest in Manifest.objects.filter(complete=False, touched_at__lt=db_now() - ABANDONED)[:20]:
        trees.drop_manifest(manifest)
    uploads.sweep()
    _forget_jobs()
    _clear_staging()
    while objects.collect_garbage():
        pass


def _forget_jobs() -> None:
    """Old jobs, and the manifests of those that were cancelled after theirs was complete."""
    old = Job.objects.filter(ended_at__lt=db_now() - FORGOTTEN)
    begun = [job.parameters["manifest"] for job in old if "manifest" in job.parameters]
    for manifest in trees.unreferenced(Manifest.objects.filter(pk__in=begun)):
        trees.drop_manifest(manifest)
    old.delete()


def _clear_staging() -> None:
    """Remove the staging folders of jobs that were cancelled or died."""
    aside = list(data_root().glob("*/staging/*"))
    alive = Job.objects.filter(status__in=OPEN_JOBS, pk__in=[path.name for path in aside])
    kept = {str(pk) for pk in alive.values_list("pk", flat=True)}
    for path in aside:
        if path.name not in kept:
            move_to_trash(path)


def adopt() -> None:
    """Find contents without a row in every organisation; reads whole folders, so run it once a day."""
    for store in data_root().glob("*/objects"):
        objects.adopt_strays(UUID(store.parent.name))
