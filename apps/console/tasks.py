"""The console's own loops."""

from celery import shared_task

from apps.common.actor import system_actor
from apps.common.scoping import acting
from apps.console.finance.arrears import services as releasing
from apps.console.hardware.processes import services as processes
from apps.notifications.services import notify_person
from apps.tenants.models import OwnDataExport
from apps.tenants.services import own_data


@shared_task(name="console.release_data")
def release_data() -> None:
    with acting(system_actor()) as actor:
        releasing.release_due(actor)


@shared_task(name="console.copy_own_data")
def copy_own_data() -> None:
    with acting(system_actor()):
        own_data.write_due(notify_of_own_data)


def notify_of_own_data(copy: OwnDataExport) -> None:
    kind = "account.data_ready" if copy.ready_at else "account.data_failed"
    notify_person(user=copy.user, kind=kind, data={}, dedup=f"{kind}:{copy.pk}")


@shared_task(name="console.tell_replacements")
def tell_replacements() -> None:
    with acting(system_actor()) as actor:
        processes.notify_replacements(actor)
