"""Nudges: everything that is due is found in the database."""

from celery import shared_task

from apps.billing import services
from apps.billing.alipay import polling, refunds
from apps.common.actor import system_actor
from apps.common.scoping import acting


@shared_task(name="billing.rate")
def rate() -> None:
    with acting(system_actor()) as actor:
        services.rate_due(actor)
        services.arrears_sweep(actor)


@shared_task(name="billing.ask_alipay")
def ask_alipay() -> None:
    """What became of payments and refunds whose notices have not come."""
    with acting(system_actor()) as actor:
        polling.ask_due()
        refunds.ask_due(actor)
