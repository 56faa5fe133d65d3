"""That nothing starts in an image while it is deleted, and nothing is deleted while something starts in it.

Both take the lock of the image's repository to the end of their transaction: a start shares it with other starts and
sees what was deleted before, a deletion has it alone and sees what was started before.
"""

from django.db import connection
from django.utils.translation import gettext_lazy as _

from apps.common.errors import Invalid
from apps.registry.distribution.names import repository_of_ours
from apps.registry.models import DeletedManifest, Image
from apps.workloads.references import Reference


def hold(image: Reference) -> None:
    """For who keeps the image from now on, in a row of this transaction. Raises `Invalid` where it was deleted."""
    name = repository_of_ours(image)
    if name is None:
        return
    _lock("pg_advisory_xact_lock_shared", name.text)
    if DeletedManifest.objects.filter(repository_name=name.text, digest=image.digest).exists():
        message = _("This image has just been deleted from the registry. Choose another one.")
        raise Invalid.field("image", message)


def hold_image(image: Image) -> None:
    """As `hold`, for what chooses one of the images."""
    if image.reference:
        hold(Reference.parse(image.reference))


def lock_for_deletion(repository: str) -> None:
    _lock("pg_advisory_xact_lock", repository)


def _lock(function: str, repository: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtextextended(%s, 0))", [f"image repository {repository}"])
