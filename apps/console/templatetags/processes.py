"""Names of the platform's processes in templates."""

from django import template

from apps.console.process_words import name_of

register = template.Library()
register.filter("process_name", name_of)
