"""The outbox's loops as Celery tasks; each finds its own work in the database."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.notifications import outbox
from apps.notifications.choices import Channel
from apps.notifications.following import notify_from_log
from apps.notifications.hook_outbox import send_due
from apps.notifications.sweeping import sweep as sweep_old


@shared_task(name="notifications.send_mail")
def send_mail() -> None:
    with acting(system_actor()):
        outbox.send_due(Channel.EMAIL)


@shared_task(name="notifications.send_sms")
def send_sms() -> None:
    with acting(system_actor()):
        outbox.send_due(Channel.SMS)


@shared_task(name="notifications.send_webhooks")
def send_webhooks() -> None:
    with acting(system_actor()):
        send_due()


@shared_task(name="notifications.follow_log")
def follow() -> None:
    with acting(system_actor()):
        notify_from_log()


@shared_task(name="notifications.sweep")
def sweep() -> None:
    with acting(system_actor()):
        sweep_old()
