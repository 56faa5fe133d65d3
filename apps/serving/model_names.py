"""Names of models at the organisation's own address: given to services, and taken back."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid, NotFound
from apps.serving import services
from apps.serving.choices import MODEL_NAME
from apps.serving.models import ModelName

MOST_NAMES = 200
LONGEST_UPSTREAM = 200


@dataclass(frozen=True, slots=True)
class NameDraft:
    """`upstream`: what the service calls the model; empty: the same. `fallback`: another name; empty: none."""

    name: str
    upstream: str = ""
    fallback: str = ""


def names(actor: Actor) -> QuerySet[ModelName]:
    """All of the organisation: whoever sees services sees what its address offers."""
    rows = ModelName.objects.filter(organisation_id=actor.organisation(), service__deleted_at__isnull=True)
    return rows.select_related("service", "service__owner", "fallback").order_by("name")


def give(actor: Actor, service_id: UUID, draft: NameDraft) -> ModelName:
    """Let the service answer to this name. Raises `Invalid` with the field, `Conflict`, `NotFound`."""
    _check(draft)
    with transaction.atomic():
        service, _owner = services.changeable(actor, service_id)
        of_organisation = _locked(service.organisation_id)
        if draft.name in of_organisation:
            raise Invalid.field("name", _("Another model has this name."))
        if len(of_organisation) >= MOST_NAMES:
            raise Conflict(_("This organisation has %(count)s names already.") % {"count": MOST_NAMES})
        if draft.fallback and draft.fallback not in of_organisation:
            raise Invalid.field("fallback", _("There is no such name."))
        made: ModelName = ModelName.objects.create(
            organisation_id=service.organisation_id,
            service=service,
            author_id=actor.person(),
            name=draft.name,
            upstream=draft.upstream,
            fallback=of_organisation.get(draft.fallback),
        )
        services.record_change(actor, service, "name_given", {"name": draft.name, "fallback": draft.fallback})
    return made


def take_back(actor: Actor, name_id: UUID) -> str:
    """The name answers nobody any more, within seconds; returns it. Names that fell back to it fall back to nothing."""
    with transaction.atomic():
        row = names(actor).filter(pk=name_id).first()
        if row is None:
            raise NotFound
        service, _owner = services.changeable(actor, row.service_id)
        row.delete()
        services.record_change(actor, service, "name_taken_back", before={"name": row.name})
    return row.name


def _check(draft: NameDraft) -> None:
    if not MODEL_NAME.fullmatch(draft.name):
        raise Invalid.field("name", _("At most 100 letters, digits and . _ : / -, the first one a letter or digit."))
    if len(draft.upstream) > LONGEST_UPSTREAM or not draft.upstream.isprintable():
        raise Invalid.field("upstream", _("At most %(most)s characters in one line.") % {"most": LONGEST_UPSTREAM})


def _locked(organisation_id: UUID) -> Mapping[str, ModelName]:
    """By name. A new name falls back to one that was there before, so that none goes round in a circle."""
    rows = ModelName.objects.select_for_update(of=("self",)).filter(organisation_id=organisation_id)
    return {row.name: row for row in rows.order_by("pk")}
