"""`{% load tagging %}`: tags as chips, and the field to type them in."""

from collections.abc import Sequence
from typing import Any

from django import template
from django.forms import BoundField
from django.template import Context
from django.urls import reverse
from django.utils.http import urlencode

from apps.workloads.tagging import used_tags

register = template.Library()


@register.inclusion_tag("workloads/tag_chips.html")
def tag_chips(tags: Sequence[str], list_name: str = "") -> dict[str, Any]:
    """Each leads to the list of that name, narrowed to it; without a name they lead nowhere."""
    url = reverse(list_name) if list_name else ""
    return {"chips": [(tag, f"{url}?{urlencode({'tag': tag})}" if url else "") for tag in tags]}


@register.inclusion_tag("workloads/tag_input.html", takes_context=True)
def tag_input(context: Context, bound: BoundField, validate: str = "") -> dict[str, Any]:
    """The field with the tags that the organisation uses, to be added with one press."""
    return {"bound": bound, "validate": validate, "used": used_tags(context["actor"])}
