"""Delete expired data of the sign-in."""

from celery import shared_task

from apps.tenants import sign_in_limits


@shared_task(name="tenants.forget")
def forget() -> None:
    sign_in_limits.forget_old()
