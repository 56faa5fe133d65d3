"""Words about exports."""

from django import template
from django.utils.translation import gettext as _

from apps.billing.exports.lists import exported_lists
from apps.billing.exports.working import FAILURES
from apps.billing.models import Export

register = template.Library()


@register.filter
def export_label(export: Export) -> str:
    """What stands in its rows: the kind, or the list that it was made from."""
    name = export.filters.get("list", "")
    known = exported_lists().get(name)
    return str(known.label) if known else name or export.get_kind_display()


@register.filter
def failure(export: Export) -> str:
    """Why nothing came of it."""
    known = FAILURES.get(export.error)
    return _(known) if known else export.error
