"""The organisation's own vouchers."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from apps.billing.models import Voucher
from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


class VoucherColumns(Table):
    """What the organisation's list and the staff's have in common."""

    state = Cell(
        template_name="billing/vouchers/state.html",
        verbose_name=_("State"),
        orderable=False,
        attrs=column("o-2", width="c-2"),
    )
    valid_until = Cell(
        "{% load vouchers %}{{ record|validity }}",
        verbose_name=pgettext_lazy("period", "Valid"),
        order_by=("valid_until", "pk"),
        attrs=column("pl-nowrap", width=FULL, fold=pgettext_lazy("period", "Valid")),
    )
    amount_fen = Cell(
        "{% load pl %}{{ record.amount_fen|amount }}",
        verbose_name=_("Granted ¥"),
        attrs=column(fold=_("Granted ¥"), numeric=True),
    )
    used_fen = Cell(
        "{% load pl %}{{ record.used_fen|amount }}",
        verbose_name=pgettext_lazy("voucher", "Used ¥"),
        attrs=column(fold=pgettext_lazy("voucher", "Used ¥"), numeric=True),
    )
    left_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.left_fen|amount }}</span>",
        verbose_name=_("Left ¥"),
        attrs=column(fold=_("Left ¥"), numeric=True),
    )


class VoucherTable(VoucherColumns):
    caption = _("Vouchers")
    scope = Cell(
        "{% load vouchers %}<span class='pl-name'>{{ record|scope_words }}</span>"
        "{% if record.note %}<span class='pl-sub'>{{ record|note_words }}</span>{% endif %}",
        verbose_name=_("Pays for"),
        order_by=("scope", "pk"),
        attrs=column("o-1", width="c-4"),
    )

    class Meta(Table.Meta):
        model = Voucher
        fields = ()
        sequence = ("scope", "state", "valid_until", "amount_fen", "used_fen", "left_fen")
