"""From a notice to the outbox: who wants it, by which channel, at which address."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import QuerySet

from apps.notifications.choices import Channel, Topic
from apps.notifications.kinds import topic_of
from apps.notifications.models import Delivery, Notice, Phone
from apps.notifications.selectors import channel_choices, must_get_mail
from apps.notifications.settings import SmsSettings
from apps.tenants import settings
from apps.tenants.models import User


def queue_deliveries(notices: list[Notice]) -> None:
    """Queue deliveries in the transaction that wrote the notices, each notice once per channel."""
    if not notices:
        return
    first = notices[0]
    users = [notice.user_id for notice in notices]
    addresses = _addresses(users, topic_of(first.kind), first.organisation_id)
    Delivery.objects.bulk_create(
        [
            Delivery(
                organisation_id=notice.organisation_id,
                notice=notice,
                user_id=notice.user_id,
                kind=notice.kind,
                channel=channel,
                address=address,
            )
            for notice in notices
            for channel, address in addresses.get(notice.user_id, {}).items()
        ],
        ignore_conflicts=True,
    )


def _addresses(users: Iterable[int], topic: Topic, organisation_id: UUID | None) -> dict[int, dict[Channel, str]]:
    """For each person the channels that they want for this topic, with the address of each."""
    people = {user.pk: user for user in _reachable(users, organisation_id)}
    wanted = channel_choices(people, topic)
    bound = must_get_mail(people, topic, organisation_id)
    phones = _phones(people)
    found: dict[int, dict[Channel, str]] = {}
    for pk, user in people.items():
        ways = {Channel.EMAIL: user.email, Channel.SMS: phones.get(pk, "")}
        found[pk] = {
            way: address
            for way, address in ways.items()
            if address and (wanted[pk][way] or (way is Channel.EMAIL and pk in bound))
        }
    return found


def _reachable(users: Iterable[int], organisation_id: UUID | None) -> QuerySet[User]:
    """People to whom anything is sent: they can sign in and are still members of the organisation that it is about."""
    rows = User.objects.filter(pk__in=list(users), is_active=True)
    return rows.filter(memberships__organisation_id=organisation_id) if organisation_id else rows


def _phones(people: Iterable[int]) -> dict[int, str]:
    """Confirmed numbers; none if no gateway is set up."""
    if not settings.get(SmsSettings).on:
        return {}
    rows = Phone.objects.filter(user_id__in=list(people), verified_at__isnull=False).exclude(number="")
    return dict(rows.values_list("user_id", "number"))
