"""Delete expired data of the sign-in, and accounts whose term is over."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.tenants import sign_in_limits
from apps.tenants.services import erasure


@shared_task(name="tenants.forget")
def forget() -> None:
    sign_in_limits.forget_old()


@shared_task(name="tenants.delete_accounts")
def delete_accounts() -> None:
    with acting(system_actor()) as actor:
        erasure.carry_out_due(actor)
