"""The files of a version in the file manager and its API: one of `settings.FILE_ROOTS`."""

from uuid import UUID

from apps.common.actor import Actor
from apps.common.errors import NotFound
from apps.modelhub import selectors
from apps.storage.choices import RootKind
from apps.storage.disk import data_root
from apps.storage.roots import Root


def load(actor: Actor, version_id: UUID) -> Root:
    """Its tree, which is never written to. `NotFound` if the actor cannot see it, or it has no contents."""
    version = selectors.version(actor, version_id)
    if not version.is_ready:
        raise NotFound
    return Root(
        kind=RootKind.MODEL,
        id=version.pk,
        organisation_id=version.organisation_id,
        path=data_root() / version.relative_path,
        relative_path=version.relative_path,
        title=str(version),
        writable=False,
        used=version.total_bytes,
    )
