"""`{% load notices %}`: notices and events in the reader's words."""

from django import template

from apps.notifications.kinds import label_of
from apps.notifications.models import Notice, Webhook
from apps.notifications.services.hooks import EVERY_KIND
from apps.notifications.words import Words, words

register = template.Library()


@register.simple_tag
def notice_words(notice: Notice) -> Words:
    return words(notice)


@register.simple_tag
def kind_label(kind: str) -> str:
    return str(label_of(kind))


@register.simple_tag
def hook_kinds(hook: Webhook) -> list[str]:
    """Labels of the events that a webhook is told; empty for all of them."""
    return [] if EVERY_KIND in hook.kinds else [str(label_of(kind)) for kind in hook.kinds]
