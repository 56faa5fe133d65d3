"""Read notices: everybody their own, in the organisation that they work in or as staff in the console."""

from collections.abc import Iterable
from uuid import UUID

from django.db.models import ExpressionWrapper, Q, QuerySet
from django.db.models.fields import BooleanField

from apps.common.actor import Actor, system_actor
from apps.common.scoping import acting
from apps.notifications.choices import Channel, Topic
from apps.notifications.models import Notice, Phone, Preference
from apps.tenants.choices import Role
from apps.tenants.models import Membership, PlatformAssignment

# The defaults. SMS costs money, so it is opt-in.
DEFAULTS = {Channel.EMAIL: True, Channel.SMS: False}
# If an admin could switch these mails off, nobody would tell them of an empty wallet or a breach.
BINDING = frozenset({Topic.MONEY, Topic.SECURITY})


def own_notices(actor: Actor) -> QuerySet[Notice]:
    """The actor's notices in the present portal: those of the organisation, or those of the platform in the console."""
    rows: QuerySet[Notice] = Notice.objects.filter(user_id=actor.person())
    return rows.filter(organisation__isnull=True) if actor.platform else rows


def notices(actor: Actor) -> QuerySet[Notice]:
    """The actor's notices: unread ones first, then by age, the newest first."""
    is_unread = ExpressionWrapper(Q(read_at__isnull=True), output_field=BooleanField())
    return own_notices(actor).order_by(is_unread.desc(), "-created_at", "-pk")


def unread(actor: Actor) -> QuerySet[Notice]:
    return own_notices(actor).filter(read_at__isnull=True).order_by("-created_at", "-pk")


def channel_choices(users: Iterable[int], topic: Topic) -> dict[int, dict[Channel, bool]]:
    """What each of these people wants sent about `topic`."""
    people = list(users)
    wanted = {user: dict(DEFAULTS) for user in people}
    for row in Preference.objects.filter(user_id__in=people, topic=topic):
        wanted[row.user_id][Channel(row.channel)] = row.on
    return wanted


def must_get_mail(users: Iterable[int], topic: Topic, organisation_id: UUID | None = None) -> set[int]:
    """Those among `users` who get mails about `topic` regardless of their choice: admins, about money and security."""
    if topic not in BINDING:
        return set()
    people = list(users)
    staff = PlatformAssignment.objects.filter(user_id__in=people).values_list("user_id", flat=True)
    admins = Membership.objects.filter(user_id__in=people, role=Role.ADMIN)
    if organisation_id is not None:
        admins = admins.filter(organisation_id=organisation_id)
    return set(staff) | set(admins.values_list("user_id", flat=True))


def offered_topics(user_id: int) -> list[Topic]:
    """Topics that a person can choose; the platform's operation is only for staff."""
    staff = PlatformAssignment.objects.filter(user_id=user_id).exists()
    return [topic for topic in Topic if staff or topic is not Topic.PLATFORM]


def fixed_choices(user_id: int) -> set[tuple[Topic, Channel]]:
    """Topics and channels that the person cannot switch off, because of their role in any organisation."""
    with acting(system_actor()):  # a person may be an admin in another organisation than the present one
        return {(topic, Channel.EMAIL) for topic in BINDING if must_get_mail([user_id], topic)}


def choices_of(user_id: int) -> dict[tuple[Topic, Channel], bool]:
    """What is sent to a person, by topic and channel."""
    wanted = {(topic, channel): DEFAULTS[channel] for topic in Topic for channel in Channel}
    for row in Preference.objects.filter(user_id=user_id):
        wanted[Topic(row.topic), Channel(row.channel)] = row.on
    return wanted | dict.fromkeys(fixed_choices(user_id), True)


def phone_of(user_id: int) -> Phone | None:
    return Phone.objects.filter(user_id=user_id).first()
