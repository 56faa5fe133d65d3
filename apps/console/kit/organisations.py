"""Finding the organisation that a person named."""

from uuid import UUID

from django.db.models import Q

from apps.tenants.models import Organisation


def find_organisation(text: str) -> Organisation | None:
    """The organisation that a person named: by name, short name or id; None where there is none."""
    wanted = text.strip()
    named = Organisation.objects.filter(Q(name__iexact=wanted) | Q(slug=wanted)).first()
    return named or (Organisation.objects.filter(pk=UUID(wanted)).first() if _is_uuid(wanted) else None)


def _is_uuid(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True
