"""`{% load notices %}`: a notice in the reader's words."""

from django import template

from apps.notifications.models import Notice
from apps.notifications.words import Words, words

register = template.Library()


@register.simple_tag
def notice_words(notice: Notice) -> Words:
    return words(notice)
