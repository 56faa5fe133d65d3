"""Lists of prepaid orders and of what they consist of."""

import django_tables2 as tables
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from apps.billing.models import PrepaidOrder
from apps.common.tables import FULL, Table, column


class PrepaidTable(Table):
    """One organisation's."""

    caption = _("Prepaid orders")
    package = tables.TemplateColumn(
        "{% load prepaid %}<a class='pl-name' href='{% url \"billing:prepaid_order\" record.pk %}'>"
        "{{ record|prepaid_name }}</a>"
        "<span class='pl-sub'>{{ record.get_term_display }} · {{ record.user.display_name }}</span>",
        verbose_name=_("Package"),
        order_by=("package__name_en",),
        attrs=column("o-1", width=FULL),
    )
    status = tables.TemplateColumn(
        template_name="billing/prepaid/state.html", verbose_name=_("State"), attrs=column("o-2", fold=_("State"))
    )
    ends_at = tables.TemplateColumn(
        "{% load i18n pl %}{% when record.ends_at %}"
        "{% if record.auto_renew and record.status == 'active' %}"
        "<span class='pl-sub'>{% translate 'renews itself' %}</span>{% endif %}",
        verbose_name=_("Paid until"),
        attrs=column("pl-nowrap", fold=_("Paid until")),
    )
    paid_fen = tables.TemplateColumn(
        "{% load pl %}<span class='pl-strong'>{{ record.paid_fen|amount }}</span>",
        verbose_name=_("Paid ¥"),
        attrs=column(fold=_("Paid ¥"), numeric=True),
    )
    left_fen = tables.TemplateColumn(
        "{% load pl %}{{ record.left_fen|amount }}",
        verbose_name=_("Not used yet ¥"),
        attrs=column(fold=_("Not used yet ¥"), numeric=True),
    )

    class Meta(Table.Meta):
        model = PrepaidOrder
        fields = ()
        sequence = ("package", "status", "ends_at", "paid_fen", "left_fen")
        row_attrs = {"data-href": lambda record: reverse("billing:prepaid_order", args=[record.pk])}
