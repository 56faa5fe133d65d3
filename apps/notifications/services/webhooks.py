"""Create, change and test an organisation's webhooks. Every change leaves an audit row."""

from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings as installation
from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.errors import Conflict, DomainError, Invalid, NotFound, Text
from apps.common.outgoing import resolve_public
from apps.common.permissions import Permission
from apps.common.text import clean_name
from apps.notifications.choices import DeliveryState
from apps.notifications.kinds import webhook_kinds
from apps.notifications.models import Webhook, WebhookDelivery
from apps.notifications.services.hooks import EVERY_KIND, KEEP_TRYING
from apps.notifications.webhooks.secrets import OVERLAP, sealed
from apps.notifications.webhooks.signing import new_secret

MOST = 20  # webhooks of one organisation
AGAIN_AFTER = timedelta(seconds=10)
P = Permission


@dataclass(frozen=True, slots=True)
class HookSpec:
    """What a person fills in. `kinds`: names from `kinds.webhook_kinds`, or `*` for all, also those to come."""

    name: str
    url: str
    kinds: tuple[str, ...] = (EVERY_KIND,)


class HookOff(Conflict):
    """Nothing is sent to a webhook that is off."""

    def __init__(self, hook: Webhook) -> None:
        super().__init__(_("This webhook is off."), hint=_("Switch it on first."))
        self.hook = hook


def create(actor: Actor, spec: HookSpec) -> tuple[Webhook, str]:
    """A new webhook and its secret, which is not shown again; raises `Invalid` beside the fields."""
    actor.require(P.WEBHOOKS_MANAGE)
    clean = _clean(spec)
    pk, secret = uuid4(), new_secret()
    with transaction.atomic():
        if Webhook.objects.count() >= MOST:
            raise Conflict(_("An organisation has 20 webhooks at most."), hint=_("Delete one that is not needed."))
        hook = _saved(
            Webhook(
                pk=pk,
                organisation_id=actor.organisation(),
                created_by_id=actor.person(),
                secret=sealed(secret, pk),
                **_columns(clean),
            )
        )
        _log(actor, "webhook.created", hook, after=_shown(clean))
    return hook, secret


def change(actor: Actor, webhook_id: UUID, spec: HookSpec) -> Webhook:
    """Change name, address or events; pending deliveries go to the new address."""
    actor.require(P.WEBHOOKS_MANAGE)
    clean = _clean(spec)
    with transaction.atomic():
        hook = _locked(webhook_id)
        before = _shown(HookSpec(hook.name, hook.url, tuple(hook.kinds)))
        for field, value in _columns(clean).items():
            setattr(hook, field, value)
        _saved(hook)
        _log(actor, "webhook.changed", hook, before=before, after=_shown(clean))
    return hook


def switch(actor: Actor, webhook_id: UUID, *, on: bool) -> Webhook:
    """Switch it on or off. Pending events are kept while it is off and sent once it is on, unless they are too old."""
    actor.require(P.WEBHOOKS_MANAGE)
    with transaction.atomic():
        hook = _locked(webhook_id)
        if hook.active != on:
            hook.active = on
            hook.failing_since, hook.switched_off_at = None, None
            hook.save()
            _log(actor, "webhook.switched", hook, before={"active": not on}, after={"active": on})
    return hook


def rotate(actor: Actor, webhook_id: UUID) -> tuple[Webhook, str]:
    """A new secret, shown once; the old one also signs for a day, so that receivers can switch."""
    actor.require(P.WEBHOOKS_MANAGE)
    secret = new_secret()
    with transaction.atomic():
        hook = _locked(webhook_id)
        hook.old_secret, hook.old_secret_until = hook.secret, db_now() + OVERLAP
        hook.secret = sealed(secret, hook.pk)
        hook.save()
        _log(actor, "webhook.secret_changed", hook)
    return hook, secret


def delete(actor: Actor, webhook_id: UUID) -> None:
    """Delete it with its pending deliveries and its log."""
    actor.require(P.WEBHOOKS_MANAGE)
    with transaction.atomic():
        hook = _locked(webhook_id)
        _log(actor, "webhook.deleted", hook, before=_shown(HookSpec(hook.name, hook.url, tuple(hook.kinds))))
        hook.delete()


def send_test(actor: Actor, webhook_id: UUID) -> WebhookDelivery:
    """Queue an event of the kind `test`; it is sent within seconds and appears in the log."""
    actor.require(P.WEBHOOKS_MANAGE)
    hook = find(actor, webhook_id)
    if not hook.active:
        raise HookOff(hook)
    now = db_now()
    if WebhookDelivery.objects.filter(webhook=hook, kind="test", created_at__gt=now - AGAIN_AFTER).exists():
        raise Conflict(_("A test is on its way already."), hint=_("Wait a few seconds."))
    delivery: WebhookDelivery = WebhookDelivery.objects.create(
        organisation_id=hook.organisation_id,
        webhook=hook,
        kind="test",
        data={"by": actor.label},
        give_up_at=now + timedelta(minutes=10),
    )
    return delivery


def redeliver(actor: Actor, delivery_id: UUID) -> WebhookDelivery:
    """Send an event again under its own id; a pending one is only sent sooner."""
    actor.require(P.WEBHOOKS_MANAGE)
    with transaction.atomic():
        delivery = WebhookDelivery.objects.select_for_update().filter(pk=delivery_id).first()
        if delivery is None:
            raise NotFound
        if not delivery.webhook.active:
            raise HookOff(delivery.webhook)
        now = db_now()
        if delivery.lease_until is None or delivery.lease_until < now:
            delivery.state, delivery.done_at, delivery.next_try_at = DeliveryState.QUEUED, None, now
            delivery.give_up_at = now + KEEP_TRYING
            delivery.save()
            _log(actor, "webhook.redelivered", delivery.webhook, after={"event": str(delivery.pk)})
    return delivery


def find(actor: Actor, webhook_id: UUID) -> Webhook:
    """One of the actor's organisation; `NotFound` otherwise."""
    actor.require(P.WEBHOOKS_MANAGE)
    hook: Webhook | None = Webhook.objects.filter(pk=webhook_id).first()
    if hook is None:
        raise NotFound
    return hook


def _locked(webhook_id: UUID) -> Webhook:
    hook: Webhook | None = Webhook.objects.select_for_update().filter(pk=webhook_id).first()
    if hook is None:
        raise NotFound
    return hook


def _clean(spec: HookSpec) -> HookSpec:
    name = clean_name(spec.name)
    known = {kind.name for kind in webhook_kinds()} | {EVERY_KIND}
    errors: dict[str, Text] = {}
    if not 1 <= len(name) <= 60:
        errors["name"] = _("A name has 1 to 60 characters.")
    if not spec.kinds or not set(spec.kinds) <= known:
        errors["kinds"] = _("Choose at least one of the events.")
    try:
        resolve_public(spec.url.strip(), installation.WEBHOOK_ALLOW)
    except DomainError as error:
        errors["url"] = error.message
    if len(spec.url) > 500:
        errors["url"] = _("An address has 500 characters at most.")
    if errors:
        raise Invalid(_("Some values cannot be accepted."), fields=errors)
    every = (EVERY_KIND,) if EVERY_KIND in spec.kinds else tuple(dict.fromkeys(spec.kinds))
    return HookSpec(name, spec.url.strip(), every)


def _saved(hook: Webhook) -> Webhook:
    try:
        with transaction.atomic():
            hook.save()
    except IntegrityError as error:
        raise Invalid.field("name", _("Another webhook has this name.")) from error
    return hook


def _columns(spec: HookSpec) -> dict[str, Any]:
    return {"name": spec.name, "url": spec.url, "kinds": list(spec.kinds)}


def _shown(spec: HookSpec) -> dict[str, Any]:
    return {**asdict(spec), "kinds": list(spec.kinds)}


def _log(
    actor: Actor,
    action: str,
    hook: Webhook,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    target = Target("webhook", str(hook.pk), hook.name)
    record(actor, action=action, target=target, organisation_id=hook.organisation_id, before=before, after=after)
