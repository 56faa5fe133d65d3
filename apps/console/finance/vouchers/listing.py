"""Lists of vouchers and of what they paid: columns and filters; page and API share the filters."""

import django_filters
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.choices import VoucherScope, VoucherState
from apps.billing.models import Voucher
from apps.billing.vouchers.tables import VoucherColumns
from apps.common.cells import Cell
from apps.common.tables import FULL, Table, column
from apps.console.kit.filters import OrganisationFilter


class VoucherTable(VoucherColumns):
    caption = _("Vouchers")
    export = "vouchers"
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


class VoucherFilter(django_filters.FilterSet):
    organisation = OrganisationFilter()
    state = django_filters.ChoiceFilter(choices=VoucherState.choices, label=_("State"), empty_label=_("Any state"))
    scope = django_filters.ChoiceFilter(
        choices=VoucherScope.choices, label=_("Pays for"), empty_label=_("Whatever it pays for")
    )

    class Meta:
        model = Voucher
        fields: tuple[str, ...] = ()
