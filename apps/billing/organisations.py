"""Finding the organisation whose money it is."""

from uuid import UUID

from apps.common.errors import NotFound
from apps.tenants.models import Organisation


def find_organisation(organisation_id: UUID) -> Organisation:
    """Raises `NotFound`."""
    found: Organisation | None = Organisation.objects.filter(pk=organisation_id).first()
    if found is None:
        raise NotFound
    return found
