"""What a person owns and may share with colleagues: named, deleted into a bin, with rights of its own."""

import uuid
from dataclasses import dataclass
from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from apps.common.permissions import Permission
from apps.common.scoping import TenantModel
from apps.storage.models.folders import Folder
from apps.tenants.models import Organisation, User


@dataclass(frozen=True, slots=True)
class OwnedRights:
    """What one's role has to allow: to see those one may read, to have and change some, to manage everybody's."""

    view: Permission
    use: Permission
    manage_all: Permission


STORAGE_RIGHTS = OwnedRights(Permission.STORAGE_VIEW, Permission.STORAGE_USE, Permission.STORAGE_MANAGE_ALL)


class Owned(TenantModel):
    """Its shares are rows of a `UserObjectPermissionBase` whose `content_object` is called `shares` from here; the
    codenames of the two object permissions are `read_<model>` and `write_<model>`."""

    rights: ClassVar[OwnedRights] = STORAGE_RIGHTS

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    organisation = models.ForeignKey(Organisation, on_delete=models.PROTECT, related_name="+")
    owner = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    # Whose quota holds it, as it was when it was made: a move of its owner must not unbalance the books.
    department_id = models.UUIDField(null=True)
    name = models.CharField(max_length=60)
    note = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    deleted_at = models.DateTimeField(null=True)
    purge_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name

    @classmethod
    def open_to_colleagues(cls) -> models.Q:
        """Which of them every colleague may read, whose role allows to see any; none unless a model says so."""
        return models.Q(pk__in=[])


class Versioned(Owned):
    """One that grows by numbered versions. `draft` holds files that were uploaded for the next one."""

    draft = models.ForeignKey(Folder, on_delete=models.SET_NULL, null=True, related_name="+")
    newest = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True
