"""Finding the organisation whose money it is, and naming files after it."""

import re
from datetime import date
from uuid import UUID

from apps.common.errors import NotFound
from apps.tenants.models import Organisation


def find_organisation(organisation_id: UUID) -> Organisation:
    """Raises `NotFound`."""
    found: Organisation | None = Organisation.objects.filter(pk=organisation_id).first()
    if found is None:
        raise NotFound
    return found


def in_file_name(organisation_name: str) -> str:
    """The name as a part of a file's name: without what systems do not take there, and not too long."""
    return re.sub(r'[\\/:*?"<>|\s\x00-\x1f]+', "_", organisation_name).strip("._")[:40]


def file_of_days(kind: str, organisation_id: UUID | None, since: date, until: date) -> str:
    """`charges-Star_Lab-20261101-20261130.csv`: what, whose and of which days."""
    found = Organisation.objects.filter(pk=organisation_id).first() if organisation_id else None
    name = found.name if found else ""
    return "-".join(filter(None, [kind, in_file_name(name), f"{since:%Y%m%d}", f"{until:%Y%m%d}.csv"]))
