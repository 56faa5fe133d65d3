"""Names of the platform's processes in templates."""

from django import template

from apps.console.hardware.processes.words import name_of

register = template.Library()
register.filter("process_name", name_of)
