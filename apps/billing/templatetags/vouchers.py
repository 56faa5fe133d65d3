"""Words of vouchers and discounts, for both portals."""

from datetime import timedelta

from django import template
from django.utils import formats
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from apps.billing.choices import VoucherNote, VoucherScope, VoucherState
from apps.billing.days import billing_day
from apps.billing.formula import per_cent
from apps.billing.models import Discount, Voucher
from apps.common.badges import Tone

register = template.Library()
TONES = {VoucherState.VALID: Tone.RUN, VoucherState.PLANNED: Tone.WAIT}


@register.filter
def scope_words(voucher: Voucher) -> str:
    """What it pays for: `Everything`, a package's name, `GPU A100`, `Storage`."""
    if voucher.scope == VoucherScope.PACKAGE and voucher.package:
        return voucher.package.name(get_language() or "")
    if voucher.scope == VoucherScope.GPU_MODEL:
        return _("GPU %(model)s") % {"model": voucher.gpu_model}
    return voucher.get_scope_display()


@register.filter
def note_words(voucher: Voucher) -> str:
    return VoucherNote.words(voucher.note)


@register.filter
def validity(voucher: Voucher) -> str:
    """First and last day in the billing zone, both included."""
    first = billing_day(voucher.valid_from)
    last = billing_day(voucher.valid_until - timedelta(days=1))
    return f"{formats.date_format(first, 'Y-m-d')} – {formats.date_format(last, 'Y-m-d')}"


@register.filter
def voucher_tone(state: str) -> str:
    """Of a state that something can still be paid in; empty for the others."""
    return TONES.get(VoucherState(state), "")


@register.filter
def voucher_state_words(state: str) -> str:
    return str(VoucherState(state).label)


@register.filter
def dialog_id(discount: Discount) -> str:
    """Of the question before one is ended."""
    return f"end-{discount.pk}"


register.filter("per_cent", per_cent)
