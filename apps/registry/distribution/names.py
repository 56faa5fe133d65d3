"""Names of repositories, and to whom they belong: `<organisation>/<name>` and `<organisation>/<person>/<name>`.

The first part is the organisation's short name, the second of three or more a person's user name, in small letters.
Where such a name is no part of a repository's name (distribution's reference grammar), an id stands for it.
"""

import re
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db.models import Q

from apps.tenants.models import Membership, Organisation, User
from apps.workloads.references import Reference

MAX_NAME = 200  # the registry takes 255 with its host
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_NAME = re.compile(rf"{_PART}(?:/{_PART}){{1,7}}", re.ASCII)
_PLAIN = re.compile(_PART, re.ASCII)
_PERSON = re.compile(r"user-([1-9][0-9]{0,17})", re.ASCII)
_ORGANISATION = re.compile(r"org-([0-9a-f]{32})", re.ASCII)


@dataclass(frozen=True, slots=True)
class RepositoryName:
    """`person` is "" for a repository of the organisation itself."""

    text: str
    organisation: str
    person: str

    @classmethod
    def parse(cls, text: str) -> "RepositoryName":
        """Raises ValueError for what the grammar does not know: `..`, capitals, a name without an organisation."""
        if len(text) > MAX_NAME or not _NAME.fullmatch(text):
            raise ValueError("no name of a repository")
        organisation, *rest = text.split("/")
        return cls(text, organisation, rest[0] if len(rest) > 1 else "")


def repository_of_ours(image: Reference) -> RepositoryName | None:
    """The repository of an image in the platform's registry; None for those of others."""
    host, _, repository = image.repository.partition("/")
    if host != settings.REGISTRY_HOST:
        return None
    try:
        return RepositoryName.parse(repository)
    except ValueError:
        return None


def organisation_part(organisation: Organisation) -> str:
    """What the organisation's repositories begin with."""
    slug = organisation.slug.lower()
    plain = _PLAIN.fullmatch(slug) and not _ORGANISATION.fullmatch(slug)
    return slug if plain else f"org-{organisation.pk.hex}"


def person_part(user: User) -> str:
    """What the person's own repositories have as their second part."""
    name = user.username.lower()
    return name if _PLAIN.fullmatch(name) and not _PERSON.fullmatch(name) else f"user-{user.pk}"


def organisation_named(part: str) -> Organisation | None:
    """The organisation whose repositories begin so."""
    by_id = _ORGANISATION.fullmatch(part)
    which = Q(pk=UUID(by_id[1])) if by_id else Q(slug__iexact=part)
    found: Organisation | None = Organisation.objects.filter(which).order_by("created_at").first()
    return found if found is not None and organisation_part(found) == part else None


def person_named(part: str) -> User | None:
    """The person whose repositories have this as their second part."""
    by_id = _PERSON.fullmatch(part)
    which = Q(pk=int(by_id[1])) if by_id else Q(username__iexact=part)
    found: User | None = User.objects.filter(which).first()
    return found if found is not None and person_part(found) == part else None


def own_part(actor_id: int, organisation_id: UUID) -> tuple[str, str]:
    """The parts of somebody's own namespace: their organisation's and theirs."""
    member = Membership.objects.select_related("organisation", "user").get(
        organisation_id=organisation_id, user_id=actor_id
    )
    return organisation_part(member.organisation), person_part(member.user)
