"""Lists of vouchers, of what one of them has paid, and of discounts."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.voucher_tables import VoucherColumns
from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column


class VoucherTable(VoucherColumns):
    caption = _("Vouchers")
    organisation = Cell(
        "{% load vouchers %}<a class='pl-name' href='{% url \"console:voucher\" record.pk %}'>"
        "{{ record.organisation.name }}</a>"
        "{% if record.note %}<span class='pl-sub'>{{ record|note_words }}</span>{% endif %}",
        verbose_name=_("Organisation and note"),
        order_by=("organisation__name", "pk"),
        attrs=column("o-1", width="c-4"),
    )
    scope = Cell(
        "{% load vouchers %}{{ record|scope_words }}",
        verbose_name=_("Pays for"),
        order_by=("scope", "pk"),
        attrs=column(width=FULL),
    )

    class Meta(Table.Meta):
        row_attrs = {"data-href": lambda record: reverse("console:voucher", args=[record.pk])}
        sequence = ("organisation", "state", "scope", "...")


class VoucherUseTable(Table):
    """What a voucher paid, rating by rating."""

    caption = _("What it paid")
    at = Cell(
        "{% load pl %}{% when record.at seconds=True %}",
        verbose_name=_("When"),
        orderable=False,
        attrs=column("pl-nowrap", fold=_("When")),
    )
    run = Cell(
        "{{ record.run.number }}", verbose_name=_("Rating run"), orderable=False, attrs=column(fold=_("Rating run"))
    )
    transfer = Cell(
        "{% if record.transfer_id %}T-{{ record.transfer_id }}{% else %}—{% endif %}",
        verbose_name=_("Ledger entry"),
        orderable=False,
        attrs=column(fold=_("Ledger entry")),
    )
    exact_fen = Cell(
        "{% load pl %}{{ record.exact_fen|exact_yuan }}",
        verbose_name=_("Exactly"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Exactly"), numeric=True),
    )
    amount_fen = Cell(
        "{% load pl %}<span class='pl-strong'>{{ record.amount_fen|amount }}</span>",
        verbose_name=_("Amount ¥"),
        orderable=False,
        attrs=column(fold=_("Amount ¥"), numeric=True),
    )


class DiscountTable(Table):
    caption = _("Discounts")
    organisation = Cell(
        "<span class='pl-name'>{{ record.organisation.name }}</span>"
        "{% if record.note %}<span class='pl-sub'>{{ record.note }}</span>{% endif %}",
        verbose_name=_("Organisation and note"),
        order_by=("organisation__name", "number"),
        attrs=column("o-1", width="c-4"),
    )
    state = Cell(
        template_name="console/cells/price_state.html",
        verbose_name=_("State"),
        orderable=False,
        attrs=column("o-2", width="c-2"),
    )
    off = Cell(
        "{% load vouchers %}<span class='pl-strong'>{{ record.off|per_cent }}</span>",
        verbose_name=_("Discount"),
        attrs=column(fold=_("Discount"), numeric=True),
    )
    number = Cell(
        "v{{ record.number }}",
        verbose_name=_("Version"),
        orderable=False,
        attrs=column("pl-roomy", fold=_("Version"), numeric=True),
    )
    effective_from = Cell(
        "{% load pl %}{% when record.effective_from seconds=True %}",
        verbose_name=_("In force from"),
        attrs=column(fold=_("From"), numeric=True),
    )
    effective_to = Cell(
        "{% load pl %}{% when record.effective_to seconds=True %}",
        verbose_name=_("Until"),
        attrs=column(fold=_("Until"), numeric=True),
    )
    made_by = tables.Column(verbose_name=_("By"), orderable=False, attrs=column("pl-roomy", fold=_("By")))
    end = Cell(
        template_name="console/discounts/end.html",
        verbose_name="",
        orderable=False,
        attrs=column("pl-acts"),
    )

    class Meta(Table.Meta):
        exclude: tuple[str, ...] = ()
