"""How much the organisation's cache holds, and emptying it: its next builds carry out all of their steps."""

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum

from apps.audit.services import Target, record
from apps.builds.models import CachedStep
from apps.common.actor import Actor
from apps.common.permissions import Permission
from apps.storage.models import Manifest
from apps.storage.trees import drop_manifest


@dataclass(frozen=True, slots=True)
class CacheUse:
    """Bytes, and how many steps. `limit` 0: nothing is cached here."""

    used: int
    limit: int
    steps: int


def use_of(actor: Actor) -> CacheUse:
    rows = CachedStep.objects.filter(organisation_id=actor.organisation())
    found = rows.aggregate(used=Sum("size_bytes"), steps=Count("pk"))
    return CacheUse(found["used"] or 0, settings.BUILD_CACHE_BYTES, found["steps"])


def empty(actor: Actor) -> CacheUse:
    """What it held. Builds that were submitted before keep what they have found."""
    actor.require(Permission.IMAGES_MANAGE)
    with transaction.atomic():
        held = use_of(actor)
        rows = CachedStep.objects.filter(organisation_id=actor.organisation())
        manifests = list(rows.select_for_update().values_list("manifest_id", flat=True))
        rows.filter(manifest_id__in=manifests).delete()
        for manifest in Manifest.objects.filter(pk__in=manifests):
            drop_manifest(manifest)
        target = Target("build_cache", str(actor.organisation()), "")
        after = {"steps": held.steps, "bytes": held.used}
        record(actor, action="builds.cache_emptied", target=target, organisation_id=actor.organisation(), after=after)
    return held
