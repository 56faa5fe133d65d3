"""What was begun and given up: manifests that nobody finishes, contents that nothing refers to."""

from datetime import timedelta

from apps.common.clock import db_now
from apps.storage import objects, trees
from apps.storage.models import Manifest

# A capture touches its manifest with every batch; one that has not for so long is nobody's any more.
ABANDONED = timedelta(hours=24)


def sweep() -> None:
    """Call in the platform's scope."""
    for manifest in Manifest.objects.filter(complete=False, touched_at__lt=db_now() - ABANDONED)[:20]:
        trees.forget(manifest)
    while objects.collect():
        pass
