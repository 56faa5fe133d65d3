"""Words about exports."""

from django import template
from django.utils.translation import gettext as _

from apps.billing.exports.working import FAILURES
from apps.billing.models import Export

register = template.Library()


@register.filter
def failure(export: Export) -> str:
    """Why nothing came of it."""
    known = FAILURES.get(export.error)
    return _(known) if known else export.error
