"""What a person chooses to have sent."""

from collections.abc import Iterable

from django.db import transaction

from apps.audit.services import Target, record
from apps.common.actor import Actor
from apps.notifications.choices import Channel, Topic
from apps.notifications.models import Preference
from apps.notifications.selectors import DEFAULTS, choices_of, fixed_choices, offered_topics

Choice = tuple[Topic, Channel]


def set_preferences(actor: Actor, wanted: Iterable[Choice]) -> None:
    """Send exactly `wanted` from now on, of what this person can choose; what cannot be switched off stays on."""
    person, on = actor.person(), set(wanted)
    with transaction.atomic():
        before = choices_of(person)
        fixed = fixed_choices(person)
        after = {
            (topic, channel): (topic, channel) in on
            for topic in offered_topics(person)
            for channel in Channel
            if (topic, channel) not in fixed
        }
        Preference.objects.filter(user_id=person, topic__in=offered_topics(person)).delete()
        Preference.objects.bulk_create(
            Preference(user_id=person, topic=topic, channel=channel, on=chosen)
            for (topic, channel), chosen in after.items()
            if chosen is not DEFAULTS[channel]
        )
        _log(actor, before, after)


def _log(actor: Actor, before: dict[Choice, bool], after: dict[Choice, bool]) -> None:
    changed = [choice for choice, chosen in after.items() if before[choice] is not chosen]
    if changed:
        record(
            actor,
            action="user.notices_chosen",
            target=Target("user", str(actor.person()), actor.label),
            before={f"{topic}.{channel}": before[topic, channel] for topic, channel in changed},
            after={f"{topic}.{channel}": after[topic, channel] for topic, channel in changed},
        )
