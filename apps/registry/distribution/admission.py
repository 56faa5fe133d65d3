"""A manifest on its way into the registry: whether it is one, and whether there is room for what it adds."""

from http import HTTPStatus

from django.utils.translation import gettext as _
from django_scopes import scopes_disabled

from apps.registry.distribution import bearer, documents, uses
from apps.registry.distribution.access import Action
from apps.registry.distribution.capacity import capacity_of
from apps.registry.distribution.issuing import OverCapacity
from apps.registry.distribution.names import RepositoryName, organisation_named
from apps.registry.models import ManifestBlob

MOST_BYTES = documents.MOST_BYTES


class Refused(Exception):
    """The answer to the client, instead of the registry's."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def admit_delete(repository: str, digest: str, authorization: str) -> None:
    """Raises Refused for an image that runs or that a passport names. Who may not delete there learns nothing here."""
    try:
        claims = bearer.read(authorization.partition(" ")[2])
    except bearer.BadToken:
        return
    if bearer.allows(claims, repository, Action.DELETE) and uses.is_needed(repository, [digest]):
        message = _("Work runs in this image, or its passport names it: it stays. Delete the tag on its page instead.")
        raise Refused(HTTPStatus.CONFLICT, "DENIED", message)


def admit(repository: str, body: bytes, authorization: str) -> None:
    """Raises Refused. Who may not push there learns nothing here: the registry refuses them."""
    try:
        claims = bearer.read(authorization.partition(" ")[2])
        name = RepositoryName.parse(repository)
    except (bearer.BadToken, ValueError):
        return
    if not bearer.allows(claims, name.text, Action.PUSH):
        return
    try:
        document = documents.read(body)
    except documents.Malformed as error:
        raise Refused(HTTPStatus.BAD_REQUEST, "MANIFEST_INVALID", str(error)) from error
    with scopes_disabled():
        organisation = organisation_named(name.organisation)
        if organisation is None:
            return
        sizes = {blob.digest: blob.size for blob in document.blobs}
        there = ManifestBlob.objects.filter(organisation_id=organisation.pk, digest__in=sizes)
        added = sum(sizes[digest] for digest in set(sizes) - set(there.values_list("digest", flat=True)))
        capacity = capacity_of(organisation.pk)
        if added > capacity.left:
            full = OverCapacity(capacity)
            raise Refused(full.status, "DENIED", full.sentences)
