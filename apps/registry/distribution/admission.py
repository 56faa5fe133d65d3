"""What clients ask of the registry and the platform decides: manifests on their way into it, and their end."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django_scopes import scopes_disabled

from apps.common.errors import DomainError, NotFound
from apps.registry.choices import SavingStatus
from apps.registry.distribution import bearer, deleting, documents, pushes
from apps.registry.distribution.access import Action
from apps.registry.distribution.capacity import OverCapacity, capacity_of
from apps.registry.distribution.names import RepositoryName, organisation_named
from apps.registry.models import ImageSaving, ManifestBlob
from apps.workloads.drivers.local.oci import manifest as oci

MOST_BYTES = documents.MOST_BYTES


class Refused(Exception):
    """The answer to the client, instead of the registry's."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


def delete(repository: str, digest: str, authorization: str) -> bool:
    """Delete an image as the client asks, whom the registry would not refuse; False for all others: let it answer.

    Raises Refused for an image that runs or that a passport names, and for one that is not there.
    """
    claims = _allowed(repository, authorization, Action.DELETE)
    if claims is None or not digest.startswith("sha256:"):
        return False
    try:
        deleting.delete_by_client(repository, digest, str(claims.get("sub") or ""))
    except NotFound as error:
        raise Refused(HTTPStatus.NOT_FOUND, "MANIFEST_UNKNOWN", str(error)) from error
    except DomainError as error:
        code = "UNAVAILABLE" if error.status == HTTPStatus.SERVICE_UNAVAILABLE else "DENIED"
        raise Refused(error.status, code, error.sentences) from error
    return True


def note_push(repository: str, digest: str, authorization: str) -> None:
    """Somebody who may push there hears about this blob, or brings it: a collection leaves it to them for a while."""
    if _allowed(repository, authorization, Action.PUSH) is not None:
        pushes.note(digest)


def admit_layer(repository: str, authorization: str) -> None:
    """Raises Refused where the organisation has no room left at all, before anything is sent."""
    if _allowed(repository, authorization, Action.PUSH) is None:
        return
    with scopes_disabled():
        organisation = organisation_named(RepositoryName.parse(repository).organisation)
        besides = _reserved_by(repository)
        capacity = None if organisation is None else capacity_of(organisation.pk, besides=besides)
    if capacity is not None and not capacity.left:
        full = OverCapacity(capacity)
        raise Refused(full.status, "DENIED", full.sentences)


def _reserved_by(repository: str, digest: str = "") -> list[UUID]:
    """Savings that have reserved the very room which this push takes: work that is saved comes this way, too."""
    rows = ImageSaving.objects.filter(
        repository_name=repository, status=SavingStatus.SENDING, image__endswith=digest, added_bytes__gt=0
    )
    return list(rows.values_list("pk", flat=True))


def _allowed(repository: str, authorization: str, action: Action) -> Mapping[str, Any] | None:
    """The claims of a token that allows it."""
    try:
        claims = bearer.read(authorization.partition(" ")[2])
    except bearer.BadToken:
        return None
    return claims if bearer.allows(claims, repository, action) else None


def admit(repository: str, body: bytes, authorization: str) -> None:
    """Raises Refused. Who may not push there learns nothing here: the registry refuses them."""
    try:
        name = RepositoryName.parse(repository)
    except ValueError:
        return
    if _allowed(name.text, authorization, Action.PUSH) is None:
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
        capacity = capacity_of(organisation.pk, besides=_reserved_by(name.text, oci.digest_of(body)))
        if added > capacity.left:
            full = OverCapacity(capacity, added)
            raise Refused(full.status, "DENIED", full.sentences)
