"""Aliases of a model, among them its stages: staging, which who may add versions sets, and production, by review.

An alias names one version of its model and moves; work that asks for it gets the version that it names then.
"""

import re
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.errors import Conflict, Denied, Invalid, NotFound
from apps.common.permissions import Permission
from apps.modelhub import selectors, states
from apps.modelhub.choices import PromotionState, Stage
from apps.modelhub.models import Model, ModelAlias, ModelVersion, Promotion
from apps.notifications.services import notify_organisation, notify_user
from apps.notifications.services.notify import people_of

ALIAS = re.compile(r"[a-z][a-z0-9_.\-]{0,39}\Z")
# `v5` is what people call the version itself.
_NUMBER = re.compile(r"v\d+\Z")


def aliases_of(model: Model) -> QuerySet[ModelAlias]:
    rows: QuerySet[ModelAlias] = ModelAlias.objects.filter(model=model).select_related("version", "set_by")
    return rows.order_by("name")


def version_named(actor: Actor, model: Model, name: str) -> ModelVersion:
    """The version that an alias of a readable model names now; `NotFound` without one."""
    found = selectors.versions_for(actor).filter(model=model, aliases__name=name).first()
    if found is None:
        raise NotFound
    return found


def set_alias(actor: Actor, version: ModelVersion, name: str) -> ModelAlias:
    """Let the alias name this version from now on. Raises `Invalid` beside `name`, `Conflict`, `Denied`."""
    selectors.get_writable(actor, version.model_id)
    cleaned = name.strip().lower()
    if not ALIAS.match(cleaned) or _NUMBER.match(cleaned):
        text = _("An alias has up to 40 small letters, digits, dots, - and _, starts with a letter, and is no number.")
        raise Invalid.field("name", text)
    if cleaned == Stage.PRODUCTION:
        text = _("Production changes by review; ask for it on the page of the version.")
        raise Invalid.field("name", text)
    with transaction.atomic():
        return _move(actor, version, cleaned)


def _move(actor: Actor, version: ModelVersion, name: str) -> ModelAlias:
    if not version.is_ready:
        raise Conflict(_("Only a version whose contents are there can be named."))
    alias, _made = ModelAlias.objects.update_or_create(
        model_id=version.model_id,
        name=name,
        defaults={
            "organisation_id": version.organisation_id,
            "version": version,
            "set_by_id": actor.person(),
            "set_at": Now(),
        },
    )
    _log(actor, version, "alias", {"alias": name, "number": version.number})
    return alias


def remove_alias(actor: Actor, model: Model, name: str) -> None:
    """`NotFound` where there is none. Production is taken away only by who may review."""
    selectors.get_writable(actor, model.pk)
    if name == Stage.PRODUCTION and not actor.may(Permission.MODELS_REVIEW):
        raise Denied(Permission.MODELS_REVIEW)
    with transaction.atomic():
        alias = ModelAlias.objects.select_for_update().filter(model=model, name=name).first()
        if alias is None:
            raise NotFound
        version = ModelVersion.objects.select_related("model").get(pk=alias.version_id)
        alias.delete()
        _log(actor, version, "alias_removed", {"alias": name, "number": version.number})


def ask(actor: Actor, version: ModelVersion, *, reason: str = "") -> Promotion:
    """Ask that this version goes into production. Raises `Conflict`, `Denied`."""
    selectors.get_writable(actor, version.model_id)
    if not version.is_ready:
        raise Conflict(_("Only a version whose contents are there can be named."))
    if version.aliases.filter(name=Stage.PRODUCTION).exists():
        raise Conflict(_("This version is in production already."))
    try:
        with transaction.atomic():
            made: Promotion = Promotion.objects.create(
                organisation_id=version.organisation_id,
                version=version,
                stage=Stage.PRODUCTION,
                reason=reason[:500],
                asked_by_id=actor.person(),
            )
            _log(actor, version, "promotion", {"number": version.number, "reason": reason[:500]})
            notify_organisation(
                organisation_id=version.organisation_id,
                kind="model.review_asked",
                data={**_facts(version), "by": actor.label, "reason": reason[:500]},
                dedup=f"model_promotion:{made.pk}",
                permission=Permission.MODELS_REVIEW,
            )
    except IntegrityError as error:
        raise Conflict(_("Somebody has asked for this already; it waits for review.")) from error
    return made


def promotion(actor: Actor, promotion_id: UUID) -> Promotion:
    """One of a readable version; `NotFound` otherwise."""
    rows = Promotion.objects.select_related("version", "version__model", "asked_by", "decided_by")
    found: Promotion | None = rows.filter(pk=promotion_id, version__in=selectors.versions_for(actor).order_by()).first()
    if found is None:
        raise NotFound
    return found


def promotions_of(version: ModelVersion) -> QuerySet[Promotion]:
    """Newest first."""
    rows: QuerySet[Promotion] = Promotion.objects.filter(version=version).select_related("asked_by", "decided_by")
    return rows.order_by("-asked_at")


def may_decide(actor: Actor, asked: Promotion) -> bool:
    """Another person than who asked, unless nobody else of the organisation may review."""
    if not actor.may(Permission.MODELS_REVIEW) or actor.platform:
        return False
    others = set(people_of(asked.organisation_id, Permission.MODELS_REVIEW)) - {asked.asked_by_id}
    return actor.user_id != asked.asked_by_id or not others


def decide(actor: Actor, asked: Promotion, *, approve: bool, answer: str = "") -> None:
    """Approve or reject: what is approved is in production at once. Raises `Conflict` if it was decided, `Denied`."""
    if not may_decide(actor, asked):
        if actor.may(Permission.MODELS_REVIEW) and not actor.platform:
            raise Conflict(_("You asked for it yourself."), hint=_("Another reviewer of your organisation decides."))
        raise Denied(Permission.MODELS_REVIEW)
    state = PromotionState.APPROVED if approve else PromotionState.REJECTED
    with transaction.atomic():
        _end(actor, asked, state, answer)
        if approve:
            _move(actor, asked.version, Stage.PRODUCTION)
        facts = {**_facts(asked.version), "by": actor.label, "approved": approve, "answer": answer[:500]}
        notify_user(
            organisation_id=asked.organisation_id,
            user_id=asked.asked_by_id,
            kind="model.review_decided",
            data=facts,
        )


def withdraw(actor: Actor, asked: Promotion) -> None:
    """Take one's own wish back."""
    if asked.asked_by_id != actor.user_id:
        raise Denied(Permission.MODELS_REVIEW)
    with transaction.atomic():
        _end(actor, asked, PromotionState.WITHDRAWN, "")


def _end(actor: Actor, asked: Promotion, state: PromotionState, answer: str) -> None:
    if not states.decide(asked.pk, state, by=actor.person(), answer=answer):
        raise Conflict(_("It was decided meanwhile."))
    number = asked.version.number
    _log(actor, asked.version, "promotion_decided", {"number": number, "decision": state.value, "answer": answer[:500]})


def _facts(version: ModelVersion) -> dict[str, str | int]:
    return {"name": version.model.name, "number": version.number, "version_id": str(version.pk)}


def _log(actor: Actor, version: ModelVersion, verb: str, after: dict[str, object]) -> None:
    target = Target("model", str(version.model_id), version.model.name)
    record(actor, action=f"model.{verb}", organisation_id=version.organisation_id, target=target, after=after)
