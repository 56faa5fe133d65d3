"""What the tests of webhooks do again and again."""

from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.scoping import acting
from apps.notifications import hook_outbox
from apps.notifications.models import Webhook, WebhookDelivery
from apps.notifications.services import notify_user, webhooks
from apps.notifications.services.webhooks import HookSpec
from apps.tenants.models import Organisation, User
from tests.builders import platform
from tests.notifications.servers import Receiver


def make(actor: Actor, receiver: Receiver, *kinds: str, name: str = "ci") -> tuple[Webhook, str]:
    return webhooks.create(actor, HookSpec(name, receiver.url, kinds or ("*",)))


def happen(lab: Organisation, user: User, kind: str = "run.finished", dedup: str | None = None) -> None:
    notify_user(organisation_id=lab.pk, user_id=user.pk, kind=kind, data={"name": "digits"}, dedup=dedup)


def send() -> int:
    with acting(platform()):
        return hook_outbox.send_due()


def delivery() -> WebhookDelivery:
    with acting(platform()):
        row: WebhookDelivery = WebhookDelivery.objects.get()
        return row


def hurry(**changes: object) -> None:
    with acting(platform()):
        WebhookDelivery.objects.update(next_try_at=db_now(), **changes)
