"""The one place that writes states: of a version, copying → ready or failed; of a promotion, open → decided; once."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.db.models.functions import Now

from apps.modelhub.choices import Format, PromotionState, VersionState
from apps.modelhub.models import ModelVersion, Promotion
from apps.storage.models import Manifest


@dataclass(frozen=True, slots=True)
class Contents:
    """What was copied and what it is. Sizes in bytes, `listing` the SHA-256 of the version's listing."""

    manifest: Manifest
    shared_bytes: int
    reserved_mib: int
    digest: str
    listing: bytes
    format: Format
    framework: str
    executes_code: bool
    signature: dict[str, Any]
    facts: dict[str, Any]


def become_ready(version_id: UUID, contents: Contents) -> bool:
    """False if it had ended already."""
    manifest = contents.manifest
    return bool(
        _copying(version_id).update(
            state=VersionState.READY,
            manifest=manifest,
            file_count=manifest.file_count,
            total_bytes=manifest.total_bytes,
            shared_bytes=contents.shared_bytes,
            reserved_mib=contents.reserved_mib,
            digest=contents.digest,
            listing_sha256=contents.listing,
            format=contents.format,
            framework=contents.framework,
            executes_code=contents.executes_code,
            signature=contents.signature,
            facts=contents.facts,
            ended_at=Now(),
        )
    )


def fail(version_id: UUID, error: str) -> bool:
    """False if it had ended already."""
    return bool(_copying(version_id).update(state=VersionState.FAILED, error=error[:1000], ended_at=Now()))


def decide(promotion_id: UUID, state: PromotionState, *, by: int, answer: str = "") -> bool:
    """False if it was decided already."""
    rows = Promotion.objects.filter(pk=promotion_id, state=PromotionState.OPEN)
    return bool(rows.update(state=state, decided_by_id=by, answer=answer[:500], decided_at=Now()))


def _copying(version_id: UUID) -> QuerySet[ModelVersion]:
    return ModelVersion.objects.filter(pk=version_id, state=VersionState.COPYING)
