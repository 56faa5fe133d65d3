"""The policy at a start: asked by the kernel at submission, and again for what waited (`settings.IMAGE_POLICY`)."""

from collections.abc import Sequence
from uuid import UUID

from django_scopes import scopes_disabled

from apps.common.errors import Invalid
from apps.registry.scanning import verdicts, wanting
from apps.registry.scanning.policy import Verdict
from apps.workloads.references import Reference
from apps.workloads.start_rights import ImageRefusal


def admit(organisation_id: UUID, image: Reference) -> None:
    """Has the image scanned where it never was. Raises `Invalid` where the organisation may not start in it."""
    wanting.want(image)
    refused = refusals([(organisation_id, image)])[0]
    if refused is not None:
        raise Invalid.field("image", refused.words, hint=refused.hint)


def refusals(asked: Sequence[tuple[UUID, Reference]]) -> list[ImageRefusal | None]:
    """For each, in its order; a few queries for all."""
    if not asked:
        return []
    with scopes_disabled():  # the policies of all who have something in the queue
        rules = verdicts.rules_of({organisation_id for organisation_id, _image in asked})
    if all(each.is_idle for each in rules.values()):
        return [None] * len(asked)
    digests = {image.digest for _organisation, image in asked}
    found = verdicts.reports_of(digests, findings=any(each.theirs for each in rules.values()))
    return [_refusal(rules[organisation_id].verdict(found.get(image.digest))) for organisation_id, image in asked]


def _refusal(verdict: Verdict) -> ImageRefusal | None:
    if not verdict.blocks:
        return None
    data = {
        "cause": verdict.cause.value, "count": verdict.count, "severity": verdict.severity,
        "only_fixable": verdict.only_fixable, "by_operator": verdict.by_operator,
    }  # fmt: skip
    return ImageRefusal(verdicts.verdict_words(verdict), verdicts.remedy_words(verdict), data)
