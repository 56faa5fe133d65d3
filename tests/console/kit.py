"""What several tests of the console look at."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.test import Client
from django.urls import reverse

from apps.audit.models import Entry
from apps.billing import services as billing
from apps.billing.models import Charge
from apps.common.actor import Actor
from apps.common.scoping import acting
from apps.tenants.models import User
from tests.billing.builders import Run, price_of
from tests.builders import World, platform, signed_in

# Twenty past ten in the billing zone, on a day of its own.
STARTED = datetime(2026, 11, 20, 2, 20, tzinfo=UTC)


def page(name: str, *args: object) -> str:
    return reverse(f"console:{name}", args=args)


def text_of(response: Any) -> str:
    return str(response.content.decode())


def client_of(actor: Actor) -> Client:
    """The browser of a person who acts."""
    with acting(platform()):
        return signed_in(User.objects.get(pk=actor.user_id))


def messages_of(response: Any) -> list[str]:
    return [str(message) for message in response.context["messages"]]


def last_entry(action: str) -> Entry:
    """The newest audit row of this action; the test fails where there is none."""
    with acting(platform()):
        entry: Entry = Entry.objects.filter(action=action).latest("pk")
        return entry


def count_entries(action: str) -> int:
    with acting(platform()):
        return int(Entry.objects.filter(action=action).count())


def ran(world: World, *, minutes: int = 90, label: str = "digits", opened: datetime = STARTED) -> UUID:
    """A run of the world's package that was metered and charged; the workload's id."""
    with acting(platform()):
        run = Run(world.actor, price_of(world.package), opened=opened, label=label)
        length = timedelta(minutes=minutes)
        run.open().seen(length).close(length)
        billing.rate_organisation(platform(), organisation_id=world.organisation.pk, until=opened + length)
        return run.workload_id


def charges_of(workload_id: UUID) -> list[Charge]:
    with acting(platform()):
        return list(Charge.objects.filter(session__workload_id=workload_id).order_by("start"))


def post(client: Client, url: str, follow: bool = False, **data: Any) -> Any:
    return client.post(url, {key: value for key, value in data.items() if value is not None}, follow=follow)


def fen(value: Decimal) -> str:
    """Exact fen as the tree shows them: yuan with four places."""
    return f"{value / 100:,.4f}"
