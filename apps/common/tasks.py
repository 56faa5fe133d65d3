"""Housekeeping of what the API remembers."""

from celery import shared_task

from apps.common import heartbeats, idempotency, throttling


@shared_task(name="common.forget")
def forget() -> None:
    idempotency.forget_old()
    throttling.forget_old()
    heartbeats.forget_old()
