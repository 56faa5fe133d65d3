"""Drafts hold uploads for the next version of a dataset or model. They take no quota, but never exceed what is left.

A version takes quota when it is made; until then a draft may grow to what the tightest level leaves, less what other
drafts of the organisation hold already.
"""

from django.db import transaction
from django.db.models import Q, Sum

from apps.common.actor import Actor
from apps.storage import owned, services
from apps.storage.choices import FolderKind
from apps.storage.models import MIB, Folder, Versioned
from apps.tenants.choices import Resource
from apps.tenants.models import Quota


def draft_of(actor: Actor, thing: Versioned) -> Folder:
    """Its draft, made when first asked for."""
    owned.require_writable(actor, thing)
    with transaction.atomic():
        row = type(thing).objects.select_for_update().get(pk=thing.pk)
        if row.draft is None:
            row.draft = services.create_folder(actor, kind=FolderKind.DRAFT)
            row.save(update_fields=["draft"])
    update_limit(row.draft)
    found: Folder = row.draft
    return found


def update_limit(draft: Folder) -> None:
    """Set the draft's limit to what the quotas leave now; call it before anything is added."""
    left = _left(draft)
    others = Folder.objects.filter(kind=FolderKind.DRAFT, organisation_id=draft.organisation_id).exclude(pk=draft.pk)
    held: int = others.aggregate(total=Sum("used_bytes"))["total"] or 0
    size = None if left is None else max(0, left - held // MIB)
    Folder.objects.filter(pk=draft.pk).update(size_mib=size)
    draft.size_mib = size


def _left(draft: Folder) -> int | None:
    """MiB that the organisation's and the owner's own storage quota leave; None where nothing limits them."""
    levels = Q(user__isnull=True, department__isnull=True) | Q(user_id=draft.owner_id)
    rows = Quota.objects.filter(
        levels, organisation_id=draft.organisation_id, resource=Resource.STORAGE_MIB, limit__isnull=False
    )
    return min((max(0, (row.limit or 0) - row.used) for row in rows), default=None)


def clear_draft(thing: Versioned) -> None:
    """Empty the draft after its uploads have become a version."""
    with transaction.atomic():
        row = type(thing).objects.select_for_update().get(pk=thing.pk)
        draft = row.draft
        type(thing).objects.filter(pk=row.pk).update(draft=None)
        if draft is not None:
            services.remove_folder(draft)
